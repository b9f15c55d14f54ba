/** One square for each worker, filled as far as its threads are in use. One that was lost is hatched. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { workers } from "@/api/queries";
import type { Worker } from "@/api/types";
import { CliLine, Panel, Tooltip } from "@/design";
import { useLiveQueries } from "@/live/hooks";
import { Loaded } from "@/pages/data";

/** More squares than this would be a wall. */
const SHOWN = 160;

export function Workers() {
  const query = useQuery(workers());
  useLiveQueries(["worker", "counts"], [["workers"]]);
  return (
    <Panel title="Workers" aside={<Link to="/workers">All workers</Link>}>
      <Loaded query={query} rows={2}>
        {({ items }) => {
          const there = items.filter((worker) => !isAway(worker));
          const lost = items.filter((worker) => worker.state === "lost").length;
          const threads = there.reduce((sum, worker) => sum + worker.threads, 0);
          const used = there.reduce((sum, worker) => sum + worker.threads_used, 0);
          return (
            <div className="flex flex-col gap-2 px-3 py-2.5">
              {there.length === 0 ? (
                <>
                  <p>No worker is connected, so nothing runs. Start one:</p>
                  <CliLine command="ganger worker" />
                </>
              ) : (
                <p>
                  {there.length} connected, {used} of {threads} threads in use{lost > 0 ? `, ${lost} lost in the last hour` : ""}
                </p>
              )}
              {items.length > 0 ? (
                <ul className="flex flex-wrap gap-1.5" aria-label="Workers">
                  {items.slice(0, SHOWN).map((worker) => (
                    <li key={worker.id}>
                      <Square worker={worker} />
                    </li>
                  ))}
                </ul>
              ) : null}
              {items.length > SHOWN ? <Link to="/workers">and {items.length - SHOWN} more</Link> : null}
            </div>
          );
        }}
      </Loaded>
    </Panel>
  );
}

const isAway = (worker: Worker) => worker.state === "lost" || worker.state === "gone";

function Square({ worker }: { worker: Worker }) {
  const busy = worker.threads > 0 ? Math.min(1, worker.threads_used / worker.threads) : 0;
  const words = isAway(worker) ? `${worker.name}, ${worker.state}` : `${worker.name}, ${worker.state}, ${worker.threads_used} of ${worker.threads} threads in use`;
  const border = worker.state === "lost" ? "border-dead" : worker.state === "draining" || worker.state === "unavailable" ? "border-retrying" : "border-line-strong";
  return (
    <Tooltip content={words}>
      <Link to="/workers/$id" params={{ id: worker.id }} aria-label={words} className={`relative block size-6 overflow-hidden rounded-chip border bg-canvas ${border} ${isAway(worker) ? "hatched" : ""}`}>
        {isAway(worker) ? null : <span className="absolute inset-x-0 bottom-0 bg-running" style={{ height: `${busy * 100}%` }} />}
      </Link>
    </Tooltip>
  );
}
