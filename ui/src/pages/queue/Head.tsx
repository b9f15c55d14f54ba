/** The next jobs of a queue in the order in which they start, and what holds each. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Elapsed, Panel, shortId } from "@/design";
import { Loaded } from "@/pages/data";
import { head } from "./queries";

export function Head({ queue }: { queue: string }) {
  const query = useQuery(head(queue));
  const items = query.data?.items ?? [];
  return (
    <Panel title="Head of the queue" aside={items.length > 0 ? (query.data?.exact ? `the next ${items.length}, in order` : `the next ${items.length}, roughly in order`) : null}>
      <Loaded query={query} rows={4}>
        {(data) =>
          data.items.length === 0 ? (
            <p className="px-3 py-4 text-muted">Nothing is ready. Jobs that are due, and whose parents are done, stand here until a worker takes them.</p>
          ) : (
            <ol aria-label="Head of the queue">
              {data.items.map((job, index) => (
                <li key={job.id} className="flex min-h-(--row) flex-wrap items-center gap-x-4 border-b border-line px-3 py-1 last:border-b-0">
                  <span className="w-6 text-right text-muted">{index + 1}</span>
                  <Link to="/jobs/$id" params={{ id: job.id }} className="font-mono text-12">
                    {shortId(job.id)}
                  </Link>
                  <span className="min-w-24">{job.kind}</span>
                  <span className="text-muted">priority {job.priority}</span>
                  <span className="text-muted">
                    ready for <Elapsed since={job.ready_since} />
                  </span>
                  <span className="grow basis-48 text-right max-sm:text-left">{job.held ? job.held.evidence : <span className="text-muted">starts with the next free worker</span>}</span>
                </li>
              ))}
            </ol>
          )
        }
      </Loaded>
    </Panel>
  );
}
