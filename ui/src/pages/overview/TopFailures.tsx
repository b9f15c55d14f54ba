/** The causes of the last hour's failures, the most frequent first. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { RotateCcw } from "lucide-react";
import { useMemo } from "react";
import { failures, timeseries, useMay } from "@/api/queries";
import type { Failure } from "@/api/types";
import { Button, Chip, formatExact, formatPercent, Num, Panel, Time, useNow } from "@/design";
import { useSteady } from "@/design/steady";
import { useLiveQueries } from "@/live/hooks";
import { Loaded } from "@/pages/data";
import type { GroupTarget } from "@/pages/failures/GroupDialog";
import { isNew, lately, splitError } from "@/pages/failures/groups";
import { Trend } from "@/pages/failures/Trend";

const SHOWN = 5;
const HOUR = 3_600_000;
/** The window that is asked for ends now, so its ends need not be known. */
const LAST_HOUR = { from: 0, to: 0, moving: true };

const fingerprintOf = (group: Failure) => group.fingerprint;

export function TopFailures({ act }: { act: (target: GroupTarget) => void }) {
  const query = useQuery(failures("1h", 50));
  const mayReplay = useMay("replay", "*");
  const now = useNow();
  useLiveQueries(["counts"], [["failures"]]);
  const sorted = useMemo(() => (query.data?.items ?? []).toSorted((a, b) => (b.recent?.count ?? 0) - (a.recent?.count ?? 0)).slice(0, SHOWN), [query.data]);
  const { rows, hold } = useSteady(sorted, fingerprintOf);
  return (
    <Panel title="Failures, last 1 h" aside={<Link to="/failures">All groups</Link>}>
      <Loaded query={query} rows={5}>
        {({ items, window }) =>
          items.length === 0 ? (
            <Quiet />
          ) : (
            <ul {...hold}>
              {rows.map((group) => {
                const did = lately(group, window, LAST_HOUR);
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
                        <span className="truncate" title={group.kind}>
                          {group.kind}
                        </span>
                        <span className="whitespace-nowrap text-text" title={`${formatExact(group.count)} since it was first seen`}>
                          <Num value={did?.count} unit="failed attempts in the last hour" />
                          <span aria-hidden="true"> {did?.count === 1 ? "attempt" : "attempts"}</span>
                        </span>
                        {did?.share === undefined ? null : <span className="whitespace-nowrap">{formatPercent(did.share)} of its runs</span>}
                        <Time at={group.last_at} />
                      </div>
                    </div>
                    <span className="max-sm:hidden">
                      <Trend did={did} width={72} />
                    </span>
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
