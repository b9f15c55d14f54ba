/** Moments at which a schedule fires, in its own zone, with what the clocks do there. */
import type { components } from "@/api/schema";
import { Time } from "@/design";

/** `2027-03-28T03:30:00+02:00` as people read it; the offset is what changes when clocks do. */
export function readable(local: string): string {
  const [, day, clock, offset] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?(Z|[+-]\d\d:\d\d)$/.exec(local) ?? [];
  if (!day || !clock) return local;
  const weekday = new Intl.DateTimeFormat("en-GB", { weekday: "short", timeZone: "UTC" }).format(new Date(`${day}T00:00:00Z`));
  return `${weekday} ${day} ${clock} ${offset === "Z" || offset === "+00:00" ? "UTC" : offset}`;
}

export function Instants({ items, compact = false }: { items: readonly components["schemas"]["InstantBody"][]; compact?: boolean }) {
  if (items.length === 0) return <p className="px-3 py-3 text-muted">It never fires again.</p>;
  return (
    <ol aria-label="Next firings" className={compact ? "grid grid-cols-2 gap-x-4 py-1 max-sm:grid-cols-1" : ""}>
      {items.map((instant) => (
        <li key={instant.at} className={`flex flex-wrap items-center gap-x-4 px-3 ${compact ? "min-h-6 text-12" : "min-h-(--row) border-b border-line last:border-b-0"}`}>
          <span className="tabular-nums">{readable(instant.local)}</span>
          {compact ? null : (
            <span className="ml-auto text-muted">
              <Time at={instant.at} />
            </span>
          )}
          {instant.note ? <span className="basis-full border-l-2 border-retrying pl-2 text-12">{instant.note}</span> : null}
        </li>
      ))}
    </ol>
  );
}
