/**
 * Replays or discards the dead jobs of a group, after telling what that means.
 *
 * The preview is made once, when the dialog opens: what is confirmed is what was shown. Whatever is final, or large, wants the number typed.
 */
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useId, useState } from "react";
import { api } from "@/api/client";
import { Problem } from "@/api/problem";
import type { components } from "@/api/schema";
import type { Operation } from "@/api/types";
import { Button, CliLine, Dialog, ErrorPanel, formatDuration, formatExact, shellWord, shortId, SkeletonRows, toast } from "@/design";
import { jobCount } from "./groups";

type Preview = components["schemas"]["PreviewBody"];

export interface GroupTarget {
  action: "replay" | "discard";
  fingerprint: string;
  error: string;
}

/** More jobs than this want the number typed. */
const MANY = 10_000;
const DEFAULT_RATE = 500;

const WORDS = {
  replay: { title: "Replay the dead jobs of this group", verb: "Replay", done: "Replaying" },
  discard: { title: "Discard the dead jobs of this group", verb: "Discard", done: "Discarding" },
} as const;

/** What must be typed before it is done, if anything. */
export function wantedWord(action: GroupTarget["action"], matched: number): string | undefined {
  return matched > 0 && (action === "discard" || matched > MANY) ? String(matched) : undefined;
}

/** The same on the command line. */
export function groupCli({ action, fingerprint }: GroupTarget, rate: string, reason: string): string {
  const parts = ["ganger failure", action, fingerprint];
  if (rate !== String(DEFAULT_RATE)) parts.push("--rate", shellWord(rate));
  if (reason.trim()) parts.push("--reason", shellWord(reason.trim()));
  return parts.join(" ");
}

/** `target` opens it. Give it a key, so that another target is another dialog. */
export function GroupDialog({ target, onClose }: { target: GroupTarget | undefined; onClose: () => void }) {
  return target ? <Open key={target.action + target.fingerprint} target={target} onClose={onClose} /> : null;
}

const send = (target: GroupTarget, body: components["schemas"]["GroupRequest"], signal?: AbortSignal) =>
  api.post(target.action === "replay" ? "/v1/failures/{fingerprint}:replay" : "/v1/failures/{fingerprint}:discard", {
    path: { fingerprint: target.fingerprint },
    body,
    signal,
  }) as Promise<unknown>;

function Open({ target, onClose }: { target: GroupTarget; onClose: () => void }) {
  const [opened] = useState(() => Date.now());
  const [rate, setRate] = useState(String(DEFAULT_RATE));
  const [reason, setReason] = useState("");
  const [typed, setTyped] = useState("");
  const id = useId();
  const preview = useQuery({
    queryKey: ["group-preview", target.action, target.fingerprint, opened],
    queryFn: async ({ signal }) => (await send(target, { dry_run: true }, signal)) as Preview,
    // Nothing that happens behind the dialog may change what it shows.
    enabled: (query) => query.state.data === undefined,
    staleTime: Infinity,
    gcTime: 0,
  });
  const run = useMutation({
    mutationFn: async () => (await send(target, { rate: Number(rate), reason: reason.trim() || null })) as Operation,
    onSuccess: (operation) => {
      onClose();
      toast.done(startedText(target.action, preview.data?.matched ?? 0, operation.id));
    },
  });
  const matched = preview.data?.matched ?? 0;
  const wanted = wantedWord(target.action, matched);
  const rateWrong = !/^\d+$/.test(rate) || Number(rate) < 1 || Number(rate) > 10_000;
  const ready = matched > 0 && !rateWrong && (wanted === undefined || typed.trim() === wanted);
  const { verb, title } = WORDS[target.action];
  const refused = run.error ? Problem.from(run.error) : undefined;
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={title}
      description={<span className="line-clamp-2 break-words">{target.error}</span>}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look={target.action === "discard" ? "danger" : "primary"} disabled={!ready} busy={run.isPending} onClick={() => run.mutate()}>
            {preview.data ? `${verb} ${jobCount(matched)}` : verb}
          </Button>
        </>
      }
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (ready && !run.isPending) run.mutate();
        }}
      >
        {preview.data ? (
          <Told preview={preview.data} action={target.action} rate={Number(rate)} />
        ) : preview.error ? (
          <ErrorPanel error={preview.error} title="Preview failed" onRetry={() => void preview.refetch()} />
        ) : (
          <SkeletonRows rows={3} label="Counting what it would do" />
        )}
        {matched > 0 ? (
          <>
            <div className="grid grid-cols-[120px_1fr] gap-3">
              <label className="flex flex-col gap-1" htmlFor={`${id}rate`}>
                Jobs per second
                <input id={`${id}rate`} className="field" inputMode="numeric" aria-invalid={rateWrong} value={rate} onChange={(event) => setRate(event.target.value)} />
              </label>
              <label className="flex flex-col gap-1" htmlFor={`${id}reason`}>
                Reason (shown in the audit log)
                <input id={`${id}reason`} className="field" placeholder="smtp is back" value={reason} onChange={(event) => setReason(event.target.value)} />
              </label>
            </div>
            {rateWrong ? <div role="alert">The rate is a number from 1 to 10,000.</div> : null}
            {wanted === undefined ? null : (
              <label className="flex flex-col gap-1" htmlFor={`${id}typed`}>
                <span>
                  Type <code className="rounded-chip bg-surface px-1">{wanted}</code> to confirm
                </span>
                <input id={`${id}typed`} className="field" autoComplete="off" spellCheck={false} value={typed} onChange={(event) => setTyped(event.target.value)} />
              </label>
            )}
            <CliLine command={groupCli(target, rate, reason)} />
          </>
        ) : null}
        {refused ? <ErrorPanel error={refused} title={`Couldn't ${target.action} the group`} /> : null}
        <button type="submit" className="hidden" aria-hidden="true" tabIndex={-1} />
      </form>
    </Dialog>
  );
}

const startedText = (action: GroupTarget["action"], count: number, id: string) => (
  <>
    {WORDS[action].done} {jobCount(count)}.{" "}
    <Link to="/operations/$id" params={{ id }}>
      Follow the operation
    </Link>
  </>
);

function Told({ preview, action, rate }: { preview: Preview; action: GroupTarget["action"]; rate: number }) {
  if (preview.matched === 0) {
    return (
      <p>
        No job of this group is dead, so there is nothing to {action}. Jobs that still retry, and those that have succeeded since, are not touched.
      </p>
    );
  }
  const more = preview.scan.complete ? "" : " at least";
  return (
    <div className="flex flex-col gap-3">
      <p>
        {action === "replay" ? "Runs again" : "Deletes for ever"}
        {more} <strong className="font-semibold">{formatExact(preview.matched)}</strong> dead {preview.matched === 1 ? "job" : "jobs"}
        {action === "discard" ? ", with their attempts and logs" : ""}
        {preview.matched > rate && rate > 0 ? `, in about ${formatDuration((preview.matched / rate) * 1000)}` : ""}. Jobs that are not dead are not touched.
      </p>
      <Shares title="By queue" shares={preview.by_queue} whole={preview.matched} />
      <div>
        <div className="text-12 text-muted">Some of them</div>
        <ul className="flex flex-wrap gap-x-3">
          {preview.sample.slice(0, 5).map((job) => (
            <li key={job}>
              <Link to="/jobs/$id" params={{ id: job }} target="_blank" className="font-mono text-12">
                {shortId(job)}
              </Link>
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

/** How a whole is made up, as bars. */
export function Shares({ title, shares, whole }: { title: string; shares: Readonly<Record<string, number>>; whole: number }) {
  const rows = Object.entries(shares).sort(([, a], [, b]) => b - a);
  return (
    <div>
      <div className="text-12 text-muted">{title}</div>
      <ul className="grid grid-cols-[minmax(80px,max-content)_1fr_max-content] items-center gap-x-3 gap-y-0.5">
        {rows.slice(0, 8).map(([name, count]) => (
          <li key={name} className="contents">
            <span className="max-w-48 truncate" title={name}>
              {name}
            </span>
            <span className="h-1.5 rounded-full bg-line" aria-hidden="true">
              <span className="block h-full rounded-full bg-accent" style={{ width: `${Math.max(1, (count / Math.max(1, whole)) * 100)}%` }} />
            </span>
            <span className="text-right">{formatExact(count)}</span>
          </li>
        ))}
      </ul>
      {rows.length > 8 ? <div className="text-12 text-muted">and {rows.length - 8} more</div> : null}
    </div>
  );
}
