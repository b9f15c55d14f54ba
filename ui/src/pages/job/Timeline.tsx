/** One time axis with every wait and every attempt, and the attempts one by one. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { attempts } from "@/api/queries";
import type { Attempt, Job, State } from "@/api/types";
import { Button, Duration, Elapsed, formatDuration, Panel, STATE_FILL, Time, useNow } from "@/design";
import { Loaded } from "@/pages/data";
import { isMostlyIdle, type Piece, piecesOf, sharesOf } from "./timeline";

const FILL: Record<string, State> = { ok: "succeeded", error: "dead", timeout: "dead", lost: "retrying", released: "queued", cancelled: "cancelled", running: "running" };
const WORD: Record<Piece["what"], string> = { scheduled: "for later", wait: "waited", run: "ran", between: "until the next attempt" };

export function Timeline({ job }: { job: Job }) {
  const query = useQuery(attempts(job.id));
  return <Loaded query={query} rows={3}>{({ items }) => <Known job={job} items={items} />}</Loaded>;
}

function Known({ job, items }: { job: Job; items: readonly Attempt[] }) {
  const now = useNow();
  const pieces = piecesOf(job, items, now);
  const [chosen, setChosen] = useState<boolean>();
  const idle = isMostlyIdle(pieces);
  const shortened = chosen ?? idle;
  const shares = sharesOf(pieces, shortened);
  const first = pieces[0];
  const last = pieces.at(-1);
  const summary = pieces.map((piece) => `${piece.what === "run" ? `attempt ${piece.attempt} ${piece.outcome}` : WORD[piece.what]} ${formatDuration(piece.to - piece.from)}`).join(", ");
  return (
    <Panel
      title="Attempts"
      aside={
        pieces.length > 1 ? (
          <Button small look="quiet" aria-pressed={shortened} onClick={() => setChosen(!shortened)}>
            {shortened ? "Show times to scale" : "Shorten idle time"}
          </Button>
        ) : null
      }
    >
      {first && last && last.to > first.from ? (
        <div className="px-3 pt-3 pb-1">
          <div role="img" aria-label={`Timeline: ${summary}`} className="flex h-6 w-full items-center gap-px">
            {pieces.map((piece, index) => (
              <Bar key={`${piece.what}${piece.from}`} piece={piece} share={shares[index] ?? 0} />
            ))}
          </div>
          <div className="flex items-center pt-1 text-12 text-muted">
            <Time at={new Date(first.from).toISOString()} />
            <span className="mx-auto">{formatDuration(last.to - first.from)} in all{shortened && pieces.length > 1 ? ", not to scale" : ""}</span>
            <Time at={new Date(last.to).toISOString()} />
          </div>
        </div>
      ) : null}
      {items.length === 0 && job.state !== "running" ? (
        <p className="px-3 pt-1 pb-3 text-muted">It has not been started yet.</p>
      ) : (
        <div role="region" aria-label="Attempts, one by one" tabIndex={0} className="overflow-x-auto">
          <table className="w-full text-left">
            <thead>
              <tr className="border-b border-line text-12 text-muted">
                {["No.", "Outcome", "Worker", "Started", "Ran", "Error"].map((head) => (
                  <th key={head} scope="col" className="h-7 px-3 font-medium">
                    {head}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {job.state === "running" ? (
                <Line number={job.attempt} outcome="running" worker={job.worker} started={job.started_at} ran={<Elapsed since={job.started_at} />} error={job.progress?.note ?? ""} />
              ) : null}
              {items.toReversed().map((each) => (
                <Line key={each.attempt} number={each.attempt} outcome={each.outcome} worker={each.worker} session={each.session} started={each.started_at} ran={<Duration ms={each.execution_time_ms} />} error={each.error ?? ""} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}

function Bar({ piece, share }: { piece: Piece; share: number }) {
  const words = `${piece.what === "run" ? `Attempt ${piece.attempt}, ${piece.outcome}${piece.worker ? `, on ${piece.worker}` : ""}: ` : `${WORD[piece.what]}: `}${formatDuration(piece.to - piece.from)}`;
  const look = piece.what === "run" ? `h-5 rounded-chip ${STATE_FILL[FILL[piece.outcome ?? ""] ?? "queued"]}` : piece.what === "between" ? "h-5 hatched" : piece.what === "scheduled" ? "h-0.5 bg-scheduled" : "h-0.5 bg-queued";
  return <div title={words} className={`min-w-px ${look}`} style={{ width: `${share * 100}%` }} />;
}

function Line({ number, outcome, worker, session, started, ran, error }: { number: number; outcome: string; worker?: string | null | undefined; session?: string; started: string | null | undefined; ran: React.ReactNode; error: string }) {
  return (
    <tr className="border-b border-line align-top last:border-b-0 [&>td]:px-3 [&>td]:py-1.5">
      <td className="text-muted">{number}</td>
      <td>
        <span className="inline-flex items-center gap-1.5 whitespace-nowrap">
          <span className={`size-2 rounded-full ${STATE_FILL[FILL[outcome] ?? "queued"]}`} aria-hidden="true" />
          {outcome}
        </span>
      </td>
      <td className="whitespace-nowrap">
        {session ? (
          <Link to="/workers/$id" params={{ id: session }} className="quiet-link">
            {worker}
          </Link>
        ) : (
          (worker ?? "—")
        )}
      </td>
      <td>
        <Time at={started} />
      </td>
      <td className="whitespace-nowrap">{ran}</td>
      <td className="w-full min-w-48 text-muted">
        <span className="line-clamp-2 break-words" title={error}>
          {error.split("\n")[0]}
        </span>
      </td>
    </tr>
  );
}
