/** Queues, the worst first. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Pause, Play } from "lucide-react";
import { useMemo, useState } from "react";
import { api } from "@/api/client";
import { queues, timeseries, useMay } from "@/api/queries";
import { type Counts, STATES } from "@/api/types";
import { Button, Chip, ConfirmDialog, type Confirmation, Duration, EmptyState, formatExact, formatPercent, formatRate, Num, Panel, shellWord, Sparkline, STATE_FILL, toast } from "@/design";
import { useSteady } from "@/design/steady";
import { useLiveQueries } from "@/live/hooks";
import { Loaded } from "@/pages/data";
import { type QueueRow, queueRows, RATE_MINUTES } from "./worst";

/** So many are shown; the page of queues has them all. */
const SHOWN = 8;
const STEP = 1;
const HOUR = { from: "1h", step: `${STEP}m`, by: "queue" } as const;
const HEAD = "px-3 py-1.5 font-medium whitespace-nowrap";
const CELL = "px-3 h-(--row) whitespace-nowrap";

const nameOf = (row: QueueRow) => row.queue.queue;

export function Queues() {
  const list = useQuery(queues());
  const ended = useQuery(timeseries({ metric: "throughput", ...HOUR })).data;
  const came = useQuery(timeseries({ metric: "enqueued", ...HOUR })).data;
  const failed = useQuery(timeseries({ metric: "failures", ...HOUR })).data;
  const ran = useQuery(timeseries({ metric: "run", ...HOUR })).data;
  useLiveQueries(["counts", "queue"], [["queues"]]);
  const sorted = useMemo(
    () => queueRows(list.data?.items ?? [], { ...(ended && { ended }), ...(came && { came }), ...(failed && { failed }), ...(ran && { ran }) }, STEP),
    [list.data, ended, came, failed, ran],
  );
  const { rows, hold } = useSteady(sorted, nameOf);
  return (
    <Panel title="Queues, worst first" aside={<Link to="/queues">{rows.length > SHOWN ? `All ${rows.length} queues` : "All queues"}</Link>}>
      <Loaded query={list} rows={4}>
        {() =>
          rows.length === 0 ? (
            <EmptyState title="There is no queue yet">The first job of a queue creates it.</EmptyState>
          ) : (
            <div className="overflow-x-auto" tabIndex={0} role="region" aria-label="Queues" {...hold}>
              <table className="w-full">
                <thead className="text-left text-12 text-muted">
                  <tr className="border-b border-line">
                    <th className={HEAD}>Queue</th>
                    <th className={`${HEAD} w-1/4 max-sm:hidden`}>Jobs by state</th>
                    <th className={`${HEAD} text-right`}>Ready</th>
                    <th className={`${HEAD} text-right max-sm:hidden`}>Running</th>
                    <th className={`${HEAD} text-right`}>Oldest</th>
                    <th className={`${HEAD} text-right max-sm:hidden`}>Ended, last {RATE_MINUTES} m</th>
                    <th className={`${HEAD} text-right max-md:hidden`}>Failed attempts, 1 h</th>
                    <th className={`${HEAD} max-md:hidden`}>Ended, 1 h</th>
                    <th className={HEAD}>
                      <span className="sr-only">Actions</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {rows.slice(0, SHOWN).map((row) => (
                    <Row key={row.queue.queue} row={row} />
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

function Row({ row }: { row: QueueRow }) {
  const { queue } = row;
  return (
    <tr className="border-b border-line last:border-0 hover:bg-raised">
      <td className={CELL}>
        <span className="flex items-center gap-2">
          <Link to="/queues/$queue" params={{ queue: queue.queue }} className="quiet-link max-w-56 truncate font-medium">
            {queue.queue}
          </Link>
          {queue.paused ? <Chip tone="warn">paused</Chip> : null}
          {queue.draining ? <Chip tone="warn">draining</Chip> : null}
          {queue.workers === 0 && (queue.jobs.queued ?? 0) > 0 ? <Chip tone="bad">no worker</Chip> : null}
        </span>
      </td>
      <td className={`${CELL} max-sm:hidden`}>
        <StateBar counts={queue.jobs} />
      </td>
      <td className={`${CELL} text-right`}>
        <Num value={queue.jobs.queued} unit="ready" />
      </td>
      <td className={`${CELL} text-right max-sm:hidden`}>
        <Num value={queue.jobs.running} unit="running" />
      </td>
      <td className={`${CELL} text-right`}>
        <Duration ms={queue.oldest_ready_ms} />
      </td>
      <td className={`${CELL} text-right max-sm:hidden`}>{formatRate(row.perSecond)}</td>
      <td className={`${CELL} text-right max-md:hidden`}>{formatPercent(row.failed)}</td>
      <td className={`${CELL} max-md:hidden`}>
        <Sparkline width={104} height={20} values={row.points} label={`Jobs of ${queue.queue} that ended over the last hour`} className="stroke-succeeded" />
      </td>
      <td className={`${CELL} text-right`}>
        <PauseToggle name={queue.queue} paused={queue.paused || queue.draining} />
      </td>
    </tr>
  );
}

/** How the jobs of a queue are spread over the states: widths for the eye, numbers for everybody else. */
function StateBar({ counts }: { counts: Counts }) {
  const parts = STATES.map((state) => [state, counts[state] ?? 0] as const).filter(([, count]) => count > 0);
  const words = parts.map(([state, count]) => `${formatExact(count)} ${state}`).join(", ") || "no jobs";
  return (
    <span role="img" aria-label={words} title={words} className="flex h-2 min-w-24 gap-px overflow-hidden rounded-full bg-line">
      {parts.map(([state, count]) => (
        // Whatever is there can be seen, be it one of a million.
        <span key={state} className={`min-w-1 ${STATE_FILL[state]}`} style={{ flexGrow: count }} />
      ))}
    </span>
  );
}

const PAUSE: Confirmation<string> = {
  title: (name) => `Pause the queue ${name}?`,
  body: () => "Nothing of it starts until it is resumed. Running jobs finish, and submissions are still accepted.",
  action: (name) => `Pause ${name}`,
  cli: (name) => `ganger queue pause ${shellWord(name)}`,
  run: async (name) => {
    await api.post("/v1/queues/{queue}:pause", { path: { queue: name } });
    toast.done(`Paused the queue ${name}.`);
  },
};

function PauseToggle({ name, paused }: { name: string; paused: boolean }) {
  const [asked, setAsked] = useState<string>();
  const client = useQueryClient();
  const allowed = useMay("settings", name);
  const resume = useMutation({
    mutationFn: () => api.post("/v1/queues/{queue}:resume", { path: { queue: name } }),
    onSuccess: () => toast.done(`Resumed the queue ${name}.`),
    onError: (thrown) => toast.failed(`Couldn't resume the queue ${name}`, thrown),
    onSettled: () => client.invalidateQueries({ queryKey: ["queues"] }),
  });
  if (!allowed) return null;
  return (
    <>
      {paused ? (
        <Button small look="quiet" busy={resume.isPending} icon={<Play size={14} />} aria-label={`Resume ${name}`} title={`Resume ${name}`} onClick={() => resume.mutate()} />
      ) : (
        <Button small look="quiet" icon={<Pause size={14} />} aria-label={`Pause ${name}`} title={`Pause ${name}`} onClick={() => setAsked(name)} />
      )}
      <ConfirmDialog
        target={asked}
        ask={PAUSE}
        onClose={() => {
          setAsked(undefined);
          void client.invalidateQueries({ queryKey: ["queues"] });
        }}
      />
    </>
  );
}
