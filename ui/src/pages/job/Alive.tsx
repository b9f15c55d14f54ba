/** Whether the worker of a running job is heard. If it falls silent, its lease runs out and the job moves to another one. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { worker, workers } from "@/api/queries";
import type { Job } from "@/api/types";
import { formatDuration, useNow } from "@/design";
import { KEPT_MS, withBeat } from "./beats";

const LOOK_MS = 2000;
const FLEET_MS = 10_000;

export function Alive({ job }: { job: Job }) {
  const fleet = useQuery({ ...workers(), refetchInterval: FLEET_MS }).data;
  const holder = fleet?.items.find((each) => each.leases.some((lease) => lease.job === job.id))?.id;
  const query = useQuery({ ...worker(holder ?? ""), enabled: holder !== undefined, refetchInterval: LOOK_MS });
  const heardAt = query.data && query.data.id === holder ? query.dataUpdatedAt - query.data.silent_ms : undefined;
  const now = useNow();
  const [{ last, beats }, setSeen] = useState<{ last: number | undefined; beats: readonly number[] }>({ last: undefined, beats: [] });
  if (heardAt !== undefined && heardAt !== last) setSeen({ last: heardAt, beats: withBeat(beats, heardAt, now) });
  if (holder === undefined || heardAt === undefined) return null;
  const words = `${beats.length} ${beats.length === 1 ? "heartbeat" : "heartbeats"} of its worker seen in the last minute`;
  return (
    <div className="flex items-center gap-3 pt-2 text-12 text-muted">
      <Link to="/workers/$id" params={{ id: holder }} className="quiet-link whitespace-nowrap">
        Last heartbeat {formatDuration(Math.max(0, now - heardAt))} ago
      </Link>
      <span role="img" aria-label={words} title={words} className="relative h-2.5 w-40 border-b border-line-strong">
        {beats
          .filter((at) => now - at < KEPT_MS)
          .map((at) => (
            <span key={at} className="absolute bottom-0 h-2.5 w-px bg-running" style={{ right: `${(100 * Math.max(0, now - at)) / KEPT_MS}%` }} />
          ))}
      </span>
    </div>
  );
}
