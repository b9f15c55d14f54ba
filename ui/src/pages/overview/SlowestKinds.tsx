/** The kinds whose attempts run longest, against the hour before. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { timeseries } from "@/api/queries";
import { Duration, Num, Panel, useNow } from "@/design";
import { byName, change, formatChange } from "@/pages/analytics/figures";
import { Loaded } from "@/pages/data";

const SHOWN = 5;
const HOUR = 3_600_000;

export function SlowestKinds() {
  const query = useQuery(timeseries({ metric: "run", by: "kind", from: "1h", step: "15m" }));
  // By whole quarters of an hour, so that what was asked for once is found again.
  const end = Math.floor(useNow() / (HOUR / 4)) * (HOUR / 4) - HOUR;
  const before = byName(useQuery(timeseries({ metric: "run", by: "kind", from: new Date(end - HOUR).toISOString(), to: new Date(end).toISOString(), step: "15m" })).data);
  return (
    <Panel title="Slowest kinds, last 1 h" aside={<Link to="/analytics">Analytics</Link>}>
      <Loaded query={query} rows={3}>
        {({ series }) => {
          const slow = series.filter((line) => line.name && line.name !== "_other" && line.total.p95_ms != null).sort((a, b) => (b.total.p95_ms ?? 0) - (a.total.p95_ms ?? 0));
          if (slow.length === 0) return <p className="px-3 py-4 text-center text-muted">No attempt has ended in the last hour.</p>;
          return (
            <table className="w-full">
              <thead className="text-left text-12 text-muted">
                <tr className="border-b border-line">
                  <th className="px-3 py-1 font-medium">Kind</th>
                  <th className="px-3 py-1 text-right font-medium">Runs</th>
                  <th className="px-3 py-1 text-right font-medium">p95</th>
                  <th className="px-3 py-1 text-right font-medium">Hour before</th>
                </tr>
              </thead>
              <tbody>
                {slow.slice(0, SHOWN).map((line) => (
                  <tr key={line.name} className="border-b border-line last:border-0 hover:bg-raised">
                    <td className="h-(--row) max-w-0 px-3">
                      <Link to="/analytics" search={{ kind: line.name ?? undefined }} className="quiet-link block truncate">
                        {line.name}
                      </Link>
                    </td>
                    <td className="px-3 text-right">
                      <Num value={line.total.count} unit="runs" />
                    </td>
                    <td className="px-3 text-right whitespace-nowrap">
                      <Duration ms={line.total.p95_ms} />
                    </td>
                    <td className="px-3 text-right whitespace-nowrap text-muted">{formatChange(change(before.get(line.name ?? "")?.total.p95_ms ?? undefined, line.total.p95_ms ?? undefined)) ?? "—"}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          );
        }}
      </Loaded>
    </Panel>
  );
}
