/** Nothing is in the list: says why, and what would bring something. */
import { useQueries, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { histogram, stats, useMay } from "@/api/queries";
import { STATES, sumOf } from "@/api/types";
import { Button, CliLine, EmptyState, formatExact } from "@/design";
import { jobsOf } from "./bulk";
import { isPlain, termsOf, without } from "./filter";

/** Conditions that are tried without, one request each. */
const MOST_TRIED = 6;

export function NoJobs() {
  const may = useMay("enqueue");
  return (
    <EmptyState
      title="No jobs yet"
      action={
        <div className="flex flex-col items-center gap-3">
          <CliLine command="ganger run -- echo hello" />
          {may ? <Link to="/submit">Submit one here</Link> : null}
        </div>
      }
    >
      Whatever is submitted appears here, newest first.
    </EmptyState>
  );
}

/** `onAnyTime` is there if the time range of the page leaves jobs out. */
export function NoMatch({ q, onSearch, onAnyTime }: { q: string; onSearch: (q: string) => void; onAnyTime: (() => void) | undefined }) {
  const counts = useQuery(stats()).data?.jobs;
  const terms = onAnyTime ? [] : termsOf(q);
  const tried = isPlain(terms) && terms.length > 1 ? terms.slice(0, MOST_TRIED) : [];
  const found = useQueries({ queries: tried.map((_, index) => histogram(without(q, index), 1)) });
  const options = tried
    .map((term, index) => ({ term, filter: without(q, index), data: found[index]?.data }))
    .sort((a, b) => (b.data?.matched ?? 0) - (a.data?.matched ?? 0));
  const helps = options.some((option) => (option.data?.matched ?? 0) > 0);
  return (
    <EmptyState
      title="No job matches"
      action={
        onAnyTime ? <Button onClick={onAnyTime}>Look at any time</Button> :
        <Button onClick={() => onSearch("")}>
          {counts ? `Show all ${jobsOf(sumOf(counts, STATES))}` : "Show all jobs"}
        </Button>
      }
    >
      <p>
        Nothing matches <code className="break-all">{q}</code>.
      </p>
      {options.length > 0 ? (
        <ul className="flex flex-col items-center gap-1 pt-3" aria-label="Without one condition">
          {options.map(({ term, filter, data }) => (
            <li key={term.from}>
              <button type="button" className="min-h-6 rounded-chip px-1 hover:text-accent" onClick={() => onSearch(filter)}>
                without <code>{term.text}</code>: {data ? (data.matched === 0 ? "still no matches" : `${formatExact(data.matched)}${data.scan.complete ? "" : "+"} ${data.matched === 1 ? "match" : "matches"}`) : "…"}
              </button>
            </li>
          ))}
        </ul>
      ) : null}
      {options.length > 0 && !helps && options.every((option) => option.data) ? <p className="pt-2">No single condition is to blame: take out more than one.</p> : null}
    </EmptyState>
  );
}

/** Much was looked at, and more is there. */
export function NotYet({ q, examined, busy, onMore }: { q: string; examined: number; busy: boolean; onMore: () => void }) {
  const counts = useQuery(stats()).data?.jobs;
  return (
    <EmptyState
      title="Nothing found yet"
      action={
        <Button look="primary" busy={busy} onClick={onMore}>
          Keep searching
        </Button>
      }
    >
      Searched the newest {formatExact(examined)}
      {counts ? ` of ${formatExact(sumOf(counts, STATES))}` : ""} jobs; none of them matches <code className="break-all">{q}</code>. A condition on <code>state</code> or <code>age</code> makes a search
      shorter.
    </EmptyState>
  );
}
