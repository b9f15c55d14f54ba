/** Small drawings that say how much: a bar of states, a meter, a word with a mark. What they show is told in words beside them. */
import { type Counts, type State, STATES } from "@/api/types";
import { formatExact, STATE_FILL } from "@/design";

const LIVE: readonly State[] = STATES.filter((state) => state !== "succeeded" && state !== "cancelled");

/** What is in a queue, side by side. What is done is left out: it would hide the rest. */
export function StateBar({ counts, width = "w-full" }: { counts: Counts; width?: string }) {
  const parts = LIVE.map((state) => [state, counts[state] ?? 0] as const).filter(([, count]) => count > 0);
  const all = parts.reduce((sum, [, count]) => sum + count, 0);
  const words = parts.map(([state, count]) => `${formatExact(count)} ${state}`).join(", ") || "empty";
  return (
    <span role="img" aria-label={words} title={words} className={`flex h-2 gap-px overflow-hidden rounded-chip bg-line ${width}`}>
      {parts.map(([state, count]) => (
        // Something is never nothing: a single job among millions is still seen.
        <span key={state} className={STATE_FILL[state]} style={{ flexGrow: count / all, minWidth: 3 }} />
      ))}
    </span>
  );
}

/** How much of something is used. */
export function Meter({ value, of, label, fill = "bg-running", width = "w-full" }: { value: number; of: number; label: string; fill?: string; width?: string }) {
  const share = of > 0 ? Math.min(1, value / of) : 0;
  return (
    <span role="meter" aria-label={label} aria-valuenow={value} aria-valuemin={0} aria-valuemax={of} title={label} className={`inline-block h-2 overflow-hidden rounded-chip bg-line ${width}`}>
      <span className={`block h-full ${fill}`} style={{ width: `${share * 100}%` }} />
    </span>
  );
}

const MARK = { well: "bg-succeeded", warn: "bg-retrying", bad: "bg-dead", plain: "bg-queued" } as const;
/** Shapes differ too, so that colour is never the only sign. */
const SHAPE = { well: "rounded-full", warn: "rotate-45", bad: "rounded-none", plain: "rounded-full opacity-70" } as const;
export type Tone = keyof typeof MARK;

/** A word with a mark before it: `● open`, `◆ paused`, `■ lost`. */
export function Mark({ tone, children }: { tone: Tone; children: string }) {
  return (
    <span className="inline-flex items-center gap-2 whitespace-nowrap">
      <span aria-hidden="true" className={`size-2 shrink-0 ${MARK[tone]} ${SHAPE[tone]}`} />
      {children}
    </span>
  );
}

/** A sentence about how something is, at the top of its page. */
export function VerdictStrip({ tone, children }: { tone: Tone; children: React.ReactNode }) {
  const border = { well: "border-l-succeeded", warn: "border-l-retrying", bad: "border-l-dead", plain: "border-l-queued" }[tone];
  return <div className={`mb-4 flex flex-col gap-2 rounded border border-l-2 border-line bg-surface px-4 py-2.5 ${border}`}>{children}</div>;
}
