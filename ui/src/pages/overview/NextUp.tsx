/** The schedules that fire next. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { schedules } from "@/api/queries";
import type { Schedule } from "@/api/types";
import { Chip, Panel, Time } from "@/design";
import { useLiveQueries } from "@/live/hooks";
import { Loaded } from "@/pages/data";

const SHOWN = 5;

/** Those that will fire, the next one first. */
export function nextUp(all: readonly Schedule[]): Schedule[] {
  return all
    .filter((schedule) => !schedule.paused && schedule.status?.next)
    .sort((a, b) => Date.parse(a.status?.next ?? "") - Date.parse(b.status?.next ?? ""))
    .slice(0, SHOWN);
}

export function NextUp() {
  const query = useInfiniteQuery(schedules());
  useLiveQueries(["schedule"], [["schedules"]]);
  return (
    <Panel title="Next up" aside={<Link to="/schedules">All schedules</Link>}>
      <Loaded query={query} rows={3}>
        {({ pages }) => {
          const all = pages.flatMap((page) => page.items);
          const next = nextUp(all);
          if (next.length === 0) {
            return <p className="px-3 py-4 text-center text-muted">{all.length === 0 ? "There is no schedule." : "No schedule will fire: all are paused or over."}</p>;
          }
          return (
            <>
              <ul>
                {next.map((schedule) => (
                  <li key={schedule.name} className="flex h-(--row) items-center gap-3 border-b border-line px-3 last:border-0 hover:bg-raised">
                    <Link to="/schedules/$name" params={{ name: schedule.name }} className="quiet-link truncate">
                      {schedule.name}
                    </Link>
                    <span className="min-w-0 truncate text-12 text-muted">{schedule.job.kind}</span>
                    {schedule.status?.overdue_ms ? <Chip tone="warn">overdue</Chip> : null}
                    <span className="ml-auto">
                      <Time at={schedule.status?.next} />
                    </span>
                  </li>
                ))}
              </ul>
              {pages.at(-1)?.next_cursor ? <p className="border-t border-line px-3 py-1.5 text-12 text-muted">Of the first {all.length} schedules by name.</p> : null}
            </>
          );
        }}
      </Loaded>
    </Panel>
  );
}
