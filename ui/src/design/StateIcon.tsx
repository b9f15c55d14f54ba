/** A state is shape, word and colour: eight silhouettes that can be told apart without any colour. */
import type { State } from "@/api/types";

const COLOUR: Record<State, string> = {
  scheduled: "text-scheduled",
  blocked: "text-blocked",
  queued: "text-queued",
  running: "text-running",
  retrying: "text-retrying",
  succeeded: "text-succeeded",
  dead: "text-dead",
  cancelled: "text-cancelled",
};

/** Class of the background in a state's colour, for bars. */
export const STATE_FILL: Record<State, string> = {
  scheduled: "bg-scheduled",
  blocked: "bg-blocked",
  queued: "bg-queued",
  running: "bg-running",
  retrying: "bg-retrying",
  succeeded: "bg-succeeded",
  dead: "bg-dead",
  cancelled: "bg-cancelled",
};

function shape(state: State) {
  switch (state) {
    case "scheduled":
      return (
        <>
          <circle cx="8" cy="8" r="6" />
          <path d="M8 4.5V8l2.5 2" />
        </>
      );
    case "blocked":
      return (
        <>
          <rect x="3" y="7" width="10" height="7" rx="1" fill="currentColor" />
          <path d="M5.25 7V5a2.75 2.75 0 0 1 5.5 0v2" />
        </>
      );
    case "queued":
      return <circle cx="8" cy="8" r="5" />;
    case "running":
      return <path d="M8 2.25A5.75 5.75 0 1 1 2.25 8" strokeWidth="2.5" />;
    case "retrying":
      return (
        <>
          <path d="M13 8a5 5 0 1 1-1.6-3.7" />
          <path d="M13.5 1.5v3.7H9.8" fill="none" />
        </>
      );
    case "succeeded":
      return (
        <>
          <circle cx="8" cy="8" r="6.25" fill="currentColor" stroke="none" />
          <path d="m5.2 8.2 2 2 3.7-4.2" className="stroke-canvas" />
        </>
      );
    case "dead":
      return (
        <>
          <path d="M5.2 1.25h5.6l3.95 3.95v5.6l-3.95 3.95H5.2L1.25 10.8V5.2z" fill="currentColor" stroke="none" />
          <path d="m5.75 5.75 4.5 4.5m0-4.5-4.5 4.5" className="stroke-canvas" />
        </>
      );
    case "cancelled":
      return (
        <>
          <circle cx="8" cy="8" r="5.75" />
          <path d="m4 12 8-8" />
        </>
      );
  }
}

export function StateIcon({ state, size = 14, label }: { state: State; size?: number; label?: boolean }) {
  return (
    <svg
      viewBox="0 0 16 16"
      width={size}
      height={size}
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      className={`${COLOUR[state]} shrink-0 ${state === "running" ? "turning" : ""}`}
      role={label ? "img" : undefined}
      aria-label={label ? state : undefined}
      aria-hidden={label ? undefined : true}
    >
      {shape(state)}
    </svg>
  );
}

/** The icon with its word, in neutral text: whether it can be read never depends on the hue. */
export function StateLabel({ state, size }: { state: State; size?: number }) {
  return (
    <span className="inline-flex items-center gap-1.5">
      <StateIcon state={state} {...(size ? { size } : {})} />
      <span>{state}</span>
    </span>
  );
}
