/** What the payloads of failing jobs share, and where they differ, side by side. */
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { api } from "@/api/client";
import { useMay } from "@/api/queries";
import { Panel, shortId } from "@/design";
import { Loaded } from "@/pages/data";
import { type Compared, compare, samplesOf } from "@/pages/failures/groups";
import { useInspector } from "@/shell/JobInspector";

/** So many stand side by side. */
const SHOWN = 5;

export function Payloads({ fingerprint }: { fingerprint: string }) {
  const allowed = useMay("read_payload");
  const query = useQuery({
    queryKey: ["failures", fingerprint, "payloads"],
    queryFn: async ({ signal }) => samplesOf(await api.text("/v1/jobs", {}, { q: `failure:${fingerprint}`, limit: SHOWN, include: "payload" }, signal)),
    enabled: allowed,
  });
  const rows = useMemo(() => compare(query.data ?? []), [query.data]);
  const inspector = useInspector();
  if (!allowed) return null;
  return (
    <Panel title="What the payloads share" aside={query.data && query.data.length > 0 ? `The newest ${query.data.length}` : null}>
      <Loaded query={query} rows={4}>
        {(samples) =>
          samples.length === 0 ? (
            <p className="px-3 py-6 text-center text-muted">There is no job left whose payload could be looked at.</p>
          ) : rows.length === 0 ? (
            <p className="px-3 py-6 text-center text-muted">These jobs have no payload.</p>
          ) : (
            <div className="overflow-x-auto" tabIndex={0} role="region" aria-label="Payloads side by side">
              <table className="w-full text-12">
                <thead className="text-left text-muted">
                  <tr className="border-b border-line">
                    <th className="px-3 py-1.5 font-medium">Path</th>
                    {samples.map((sample) => (
                      <th key={sample.id} className="px-3 py-1.5 font-medium whitespace-nowrap">
                        <button type="button" className="font-mono text-accent hover:underline" onClick={() => inspector.open(sample.id)}>
                          {shortId(sample.id)}
                        </button>
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {rows.map((row) => (
                    <Row key={row.path} row={row} count={samples.length} />
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Loaded>
    </Panel>
  );
}

function Row({ row, count }: { row: Compared; count: number }) {
  return (
    <tr className="border-b border-line last:border-0">
      <th scope="row" className="px-3 py-1.5 text-left font-mono font-normal whitespace-nowrap text-muted">
        {row.path}
      </th>
      {row.same && count > 1 ? (
        // oxlint-disable-next-line jsx-a11y/control-has-associated-label -- a cell of a table, with text in it
        <td colSpan={count} className="max-w-0 bg-accent/8 px-3 py-1.5">
          <span className="flex items-baseline gap-3">
            <code className="truncate">{row.values[0]}</code>
            <span className="ml-auto whitespace-nowrap text-muted">the same in all {count}</span>
          </span>
        </td>
      ) : (
        row.values.map((value, index) => (
          // A column is a job, and its place never changes.
          // oxlint-disable-next-line react/no-array-index-key
          <td key={index} className="max-w-52 truncate px-3 py-1.5" title={value}>
            {value === undefined ? <span className="text-muted">not there</span> : <code>{value}</code>}
          </td>
        ))
      )}
    </tr>
  );
}
