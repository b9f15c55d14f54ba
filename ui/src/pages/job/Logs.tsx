/** What an attempt logged: searched, and followed while it runs. Only the lines on the screen are in the page. */
import { useQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDownToLine } from "lucide-react";
import { useEffect, useId, useRef, useState } from "react";
import { api, urlOf } from "@/api/client";
import { useMay } from "@/api/queries";
import type { Job } from "@/api/types";
import { Button, EmptyState, formatExact } from "@/design";
import { Loaded } from "@/pages/data";
import { found, isAtEnd, linesOf, linksOf } from "./logs";
import { NotAllowed } from "./NotAllowed";

/** The stream does not tell lines, so they are asked for; more slowly where nobody waits for the next one. */
const FOLLOW_MS = 1000;
const LOOK_MS = 5000;
const LINE_PX = 18;

export function Logs({ job }: { job: Job }) {
  const allowed = useMay("read_payload", job.queue);
  const [attempt, setAttempt] = useState<number>();
  const [find, setFind] = useState("");
  const running = job.state === "running" && (attempt === undefined || attempt === job.attempt);
  const [follow, setFollow] = useState(true);
  const id = useId();
  const query = useQuery({
    queryKey: ["jobs", job.id, "logs", attempt ?? "last"],
    queryFn: ({ signal }) => api.text("/v1/jobs/{id}/logs", { id: job.id }, { attempt }, signal),
    enabled: allowed && job.attempt > 0,
    refetchInterval: running ? (follow ? FOLLOW_MS : LOOK_MS) : false,
  });
  // What was written between the last look and the end.
  const { refetch } = query;
  const ran = useRef(running);
  useEffect(() => {
    if (ran.current && !running) void refetch();
    ran.current = running;
  }, [running, refetch]);
  if (!allowed) return <NotAllowed what="Logs" />;
  if (job.attempt === 0) return <EmptyState title="It has not been started yet">What it logs is shown here.</EmptyState>;
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-3">
        <label htmlFor={id} className="flex items-center gap-2">
          Attempt
          <select id={id} className="field" value={attempt ?? ""} onChange={(event) => setAttempt(event.target.value === "" ? undefined : Number(event.target.value))}>
            <option value="">last ({job.attempt})</option>
            {Array.from({ length: Math.min(job.attempt, 100) }, (_, index) => job.attempt - index).map((number) => (
              <option key={number} value={number}>
                {number}
              </option>
            ))}
          </select>
        </label>
        <input className="field min-w-40 grow" placeholder="Find in these lines" aria-label="Find in the log" value={find} onChange={(event) => setFind(event.target.value)} />
        {running ? (
          <Button small icon={<ArrowDownToLine size={13} />} aria-pressed={follow} title="Stay at the end while it runs" onClick={() => setFollow(!follow)}>
            {follow ? "Following" : "Follow"}
          </Button>
        ) : null}
        <a href={urlOf("/v1/jobs/{id}/logs", { id: job.id }, { attempt })} download={`${job.id}.log`}>
          Download
        </a>
      </div>
      <Loaded query={query}>
        {(text) => (text === "" ? <EmptyState title={running ? "It has logged nothing so far" : "This attempt logged nothing"} /> : <Lines text={text} find={find} follow={running && follow} onFollow={running ? setFollow : undefined} />)}
      </Loaded>
    </div>
  );
}

/** A line with its addresses as links. */
function Line({ text }: { text: string }) {
  return linksOf(text).map(({ at, text: part, href }) =>
    href ? (
      <a key={at} href={href} target="_blank" rel="noopener noreferrer">
        {part}
      </a>
    ) : (
      part
    ),
  );
}

interface LinesProps {
  text: string;
  find: string;
  follow: boolean;
  /** Whoever scrolls up wants to read; whoever comes back to the end wants to follow. */
  onFollow: ((follow: boolean) => void) | undefined;
}

function Lines({ text, find, follow, onFollow }: LinesProps) {
  const all = linesOf(text);
  const shown = found(all, find);
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({ count: shown.length, getScrollElement: () => scroller.current, estimateSize: () => LINE_PX, overscan: 20 });
  const height = virtual.getTotalSize();
  // Only people turn following off: a list that grows under them has not been scrolled.
  const byHand = useRef(false);
  // To the last line, not to a height: that is only guessed until the lines have been drawn and measured.
  useEffect(() => {
    if (follow && shown.length > 0) virtual.scrollToIndex(shown.length - 1, { align: "end" });
  }, [follow, height, shown.length, virtual]);
  // The newest line is of no use below the edge of the window.
  useEffect(() => {
    if (follow) scroller.current?.scrollIntoView({ block: "nearest" });
  }, [follow]);
  const touched = () => {
    byHand.current = true;
  };
  const onScroll = () => {
    if (!byHand.current || !onFollow || !scroller.current) return;
    byHand.current = false;
    const end = isAtEnd(scroller.current);
    if (end !== follow) onFollow(end);
  };
  return (
    <div className="panel">
      <div role="status" className="border-b border-line px-3 py-1 text-12 text-muted">
        {find ? `${formatExact(shown.length)} of ${formatExact(all.length)} lines; hidden: ${formatExact(all.length - shown.length)}` : `${formatExact(all.length)} ${all.length === 1 ? "line" : "lines"}; the last 64 KB of an attempt are kept`}
      </div>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- it listens for scrolling, which is no action */}
      <div ref={scroller} role="region" aria-label="Log" tabIndex={0} className="max-h-[min(30rem,60vh)] overflow-auto py-2 font-mono text-12 leading-4.5" onWheel={touched} onTouchMove={touched} onPointerDown={touched} onKeyDown={touched} onScroll={onScroll}>
        <div className="relative" style={{ height }}>
          {virtual.getVirtualItems().map((item) => (
            <div key={item.key} ref={virtual.measureElement} data-index={item.index} className="absolute top-0 left-0 min-h-4.5 w-full px-3 break-words whitespace-pre-wrap" style={{ transform: `translateY(${item.start}px)` }}>
              <Line text={shown[item.index] ?? ""} />
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}
