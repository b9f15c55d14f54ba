/** One sentence: how things are. The server judges; the page only shows it, with the way to each thing that is named. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleCheck, Info, OctagonAlert, TriangleAlert } from "lucide-react";
import { useEffect } from "react";
import { stats } from "@/api/queries";
import type { components } from "@/api/schema";
import { Button, ErrorPanel, Skeleton, Tooltip } from "@/design";

type Finding = components["schemas"]["FindingBody"];

const LOOK = {
  ok: { icon: CircleCheck, colour: "text-succeeded", border: "border-l-succeeded", word: "Healthy" },
  watch: { icon: TriangleAlert, colour: "text-retrying", border: "border-l-retrying", word: "Worth a look" },
  bad: { icon: OctagonAlert, colour: "text-dead", border: "border-l-dead", word: "Needs attention" },
} as const;

const RULES = [
  "No worker handles a kind whose jobs wait: after 10 s, bad after 5 m",
  "A queue falls behind: its first job has waited a minute, and no less comes than starts; bad after 5 m",
  "A queue stands still: the same, and nothing of it runs; bad after 5 m",
  "A queue waits for free threads, or is catching up: worth a look",
  "A queue is paused while jobs wait in it: worth a look",
  "A queue fails every attempt, 10 or more in 10 m: bad; worth a look for an hour after the last one",
  "A queue has a new error, and 10 jobs died of it: worth a look; bad from 100 on",
  "A queue fails 10 % of its attempts or more, three times the share of the hour before: worth a look; bad from 50 % on",
  "10 jobs or more died in 10 m, 1 % of those that ended or more: worth a look; bad from 10 % on",
  "The store refuses to write: bad",
];

export function Verdict() {
  const query = useQuery(stats());
  const { refetch } = query;
  // Counts that came by the stream say nothing of how things are; until that is read, nothing may look calm.
  const unjudged = query.data !== undefined && !query.data.verdict;
  useEffect(() => {
    if (unjudged) void refetch();
  }, [unjudged, refetch]);
  if (!query.data?.verdict) {
    return query.error ? (
      <ErrorPanel error={query.error} title="How things are could not be read" onRetry={() => void query.refetch()} />
    ) : (
      <div role="status" aria-label="Reading how things are" className="panel flex h-14 items-center px-4">
        <Skeleton className="h-5 w-96" />
      </div>
    );
  }
  const verdict = query.data.verdict;
  const severity = verdict.severity in LOOK ? (verdict.severity as keyof typeof LOOK) : "watch";
  const look = LOOK[severity];
  const Icon = look.icon;
  const findings = verdict.findings ?? [];
  return (
    <section aria-label="How things are" className={`panel border-l-2 px-4 py-3 ${look.border}`}>
      <div className="flex items-start gap-3">
        <Icon size={20} strokeWidth={1.75} className={`mt-0.5 shrink-0 ${look.colour}`} aria-hidden="true" />
        <p className="min-w-0 grow text-16 break-words">
          <span className="font-semibold">{look.word}</span>
          <span> — {findings.length === 1 && findings[0] ? <Told finding={findings[0]} /> : withoutRate(verdict.text)}</span>
        </p>
        <Tooltip
          side="bottom"
          content={
            <span className="flex flex-col gap-1 py-1">
              <span className="font-medium">How the server judges</span>
              {RULES.map((rule) => (
                <span key={rule}>· {rule}</span>
              ))}
            </span>
          }
        >
          <Button small look="quiet" icon={<Info size={14} />} aria-label="How this is judged" />
        </Tooltip>
      </div>
      {findings.length > 1 ? (
        <ul className="mt-2 flex flex-col gap-1 pl-8">
          {findings.map((finding) => (
            <li key={`${finding.queue} ${finding.text}`} className="flex items-baseline gap-2">
              <span className={`size-2 shrink-0 ${finding.severity === "bad" ? "bg-dead" : "rounded-full bg-retrying"}`} aria-hidden="true" />
              <span className="sr-only">{finding.severity === "bad" ? "Bad: " : "Worth a look: "}</span>
              <span className="min-w-0 break-words">
                <Told finding={finding} />
              </span>
            </li>
          ))}
        </ul>
      ) : null}
    </section>
  );
}

/** The rate of the last minute is left out: all rates on this page are of the last five. */
const withoutRate = (text: string) => text.replace(/, [\d.]+ jobs\/s$/, "");

/** A finding whose queue is a link where it is named. */
function Told({ finding }: { finding: Finding }) {
  const { queue, text } = finding;
  if (!queue) return text;
  const link = (
    <Link to="/queues/$queue" params={{ queue }} className="font-medium">
      {queue}
    </Link>
  );
  const rest = text.startsWith(`${queue} `) ? text.slice(queue.length) : undefined;
  return rest === undefined ? (
    <>
      {text} in {link}
    </>
  ) : (
    <>
      {link}
      {rest}
    </>
  );
}
