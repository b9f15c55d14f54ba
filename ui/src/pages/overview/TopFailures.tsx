/** The causes of the last hour's failures, those seen last first. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { RotateCcw } from "lucide-react";
import { failures, timeseries, useMay } from "@/api/queries";
import { Button, Chip, formatExact, Num, Panel, Time, useNow } from "@/design";
import { useLiveQueries } from "@/live/hooks";
import { Loaded } from "@/pages/data";
import type { GroupTarget } from "@/pages/failures/GroupDialog";
import { isNew, splitError } from "@/pages/failures/groups";

const SHOWN = 5;
const HOUR = 3_600_000;

export function TopFailures({ act }: { act: (target: GroupTarget) => void }) {
  const query = useQuery(failures("1h", 50));
  const mayReplay = useMay("replay");
  const now = useNow();
  useLiveQueries(["counts"], [["failures"]], undefined, 5000);
  return (
    <Panel title="Failures, last 1 h" aside={<Link to="/failures">All groups</Link>}>
      <Loaded query={query} rows={5}>
        {({ items }) =>
          items.length === 0 ? (
            <Quiet />
          ) : (
            <ul>
              {[...items]
                .sort((a, b) => b.count - a.count)
                .slice(0, SHOWN)
                .map((group) => {
                  const { name, text } = splitError(group.error);
                  return (
                    <li key={group.fingerprint} className="flex items-center gap-3 border-b border-line px-3 py-2 last:border-0 hover:bg-raised">
                      <div className="min-w-0 grow">
                        <div className="flex items-center gap-2">
                          <Link to="/failures/$fingerprint" params={{ fingerprint: group.fingerprint }} className="quiet-link min-h-6 truncate leading-6" title={group.error}>
                            {name ? <span className="font-medium">{name}: </span> : null}
                            {text}
                          </Link>
                          {isNew(group, { from: now - HOUR }) ? <Chip tone="bad">new</Chip> : null}
                        </div>
                        <div className="flex min-h-6 items-center gap-3 text-12 text-muted">
                          <span className="truncate">{group.kind}</span>
                          <span className="whitespace-nowrap">
                            <Num value={group.count} unit="failed attempts" />
                            <span aria-hidden="true"> attempts</span>
                          </span>
                          <Time at={group.last_at} />
                        </div>
                      </div>
                      {mayReplay ? (
                        <Button small icon={<RotateCcw size={12} />} onClick={() => act({ action: "replay", fingerprint: group.fingerprint, error: group.error })}>
                          Replay group…
                        </Button>
                      ) : null}
                    </li>
                  );
                })}
            </ul>
          )
        }
      </Loaded>
    </Panel>
  );
}

function Quiet() {
  const ended = useQuery(timeseries({ metric: "throughput", from: "1h", step: "5m" })).data?.series[0]?.total.succeeded;
  return <p className="px-3 py-6 text-center text-muted">No failures in the last hour. {ended === undefined ? "" : `${formatExact(ended)} jobs succeeded.`}</p>;
}
