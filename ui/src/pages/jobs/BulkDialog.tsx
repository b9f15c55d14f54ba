/** Asks before something is done to many jobs, with what it would do: the server's own dry run. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useId, useState } from "react";
import { api } from "@/api/client";
import { Problem } from "@/api/problem";
import type { Operation, Preview } from "@/api/types";
import { Button, CliLine, Dialog, ErrorPanel, formatExact, shortId, SkeletonRows } from "@/design";
import { type Action, commandOf, DEFAULT_RATE, jobsOf, label, MOST_RATE, mustType, requestOf, type Target, VERB } from "./bulk";

const ABOUT: Record<Action, string> = {
  replay: "They run again, with the same ids and a fresh allowance of attempts.",
  cancel: "Those that wait never start. Those that run are told to stop.",
  delete: "They are gone for ever, with their payloads, results and logs.",
};

export interface Asked {
  action: Action;
  target: Target;
}

export function BulkDialog({ asked, onClose, onStarted }: { asked: Asked; onClose: () => void; onStarted: (operation: Operation) => void }) {
  // What is asked about is held: a list that changes behind the dialog cannot change what is confirmed.
  const [{ action, target }] = useState(asked);
  // Pressed twice, or sent again after a lost answer, it is the same operation.
  const [once] = useState(() => `ui-${crypto.getRandomValues(new Uint32Array(3)).join("-")}`);
  const [rate, setRate] = useState(String(DEFAULT_RATE));
  const [reason, setReason] = useState("");
  const [typed, setTyped] = useState("");
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<Problem>();
  const id = useId();
  const preview = useQuery({
    queryKey: ["operations", "preview", action, target],
    queryFn: async ({ signal }) => (await api.post("/v1/operations", { body: { ...requestOf(action, target), dry_run: true }, signal })) as Preview,
    staleTime: 0,
    gcTime: 0,
    retry: false,
  });
  const count = preview.data?.matched ?? 0;
  const perSecond = Number(rate);
  const rateIsGood = Number.isInteger(perSecond) && perSecond >= 1 && perSecond <= MOST_RATE;
  const wanted = mustType(action, count);
  const ready = count > 0 && rateIsGood && (wanted === undefined || typed.trim().replaceAll(",", "") === wanted);
  const run = async () => {
    if (!ready || busy) return;
    setBusy(true);
    setFailed(undefined);
    try {
      const body = { ...requestOf(action, target), rate: perSecond, ...(reason.trim() ? { reason: reason.trim() } : {}) };
      onStarted((await api.post("/v1/operations", { body, headers: { "idempotency-key": once } })) as Operation);
    } catch (thrown) {
      setFailed(Problem.from(thrown));
      setBusy(false);
    }
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`${VERB[action]} jobs`}
      description={ABOUT[action]}
      width="max-w-xl"
      footer={
        <>
          <Button onClick={onClose}>{asked.action === "cancel" ? "Go back" : "Cancel"}</Button>
          <Button look={action === "replay" ? "primary" : "danger"} disabled={!ready} busy={busy} onClick={() => void run()}>
            {preview.data ? label(action, count) : VERB[action]}
          </Button>
        </>
      }
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        {preview.error ? <ErrorPanel error={preview.error} title="Preview failed" onRetry={() => void preview.refetch()} /> : null}
        {preview.data ? <Previewed preview={preview.data} action={action} target={target} /> : null}
        {preview.isPending && !preview.error ? <SkeletonRows rows={3} label="Counting" /> : null}
        <div className="flex flex-wrap gap-4">
          <label htmlFor={`${id}-rate`} className="flex flex-col gap-1">
            <span className="text-12 text-muted">Max jobs/s</span>
            <input id={`${id}-rate`} className="field w-32" inputMode="numeric" value={rate} aria-invalid={!rateIsGood} onChange={(event) => setRate(event.target.value)} />
          </label>
          <label htmlFor={`${id}-reason`} className="flex min-w-48 grow flex-col gap-1">
            <span className="text-12 text-muted">Reason (shown in the audit log)</span>
            <input id={`${id}-reason`} className="field" maxLength={500} value={reason} onChange={(event) => setReason(event.target.value)} />
          </label>
        </div>
        {rateIsGood ? null : <div className="text-12">The rate is a whole number from 1 to {formatExact(MOST_RATE)}.</div>}
        {wanted === undefined ? null : (
          <label htmlFor={`${id}-typed`} className="flex flex-col gap-1">
            <span>
              Type <code className="rounded-chip bg-surface px-1">{wanted}</code> to confirm
            </span>
            <input id={`${id}-typed`} className="field" value={typed} autoComplete="off" spellCheck={false} onChange={(event) => setTyped(event.target.value)} />
          </label>
        )}
        <CliLine command={commandOf(action, target, rateIsGood ? perSecond : DEFAULT_RATE, reason.trim())} />
        {failed ? <ErrorPanel error={failed} title="That did not work" /> : null}
      </form>
    </Dialog>
  );
}

function Previewed({ preview, action, target }: { preview: Preview; action: Action; target: Target }) {
  const whole = preview.scan.complete;
  const other = action === "cancel" ? "have ended already" : "have not ended yet, or are not there any more";
  return (
    <div className="flex flex-col gap-2">
      <div className="text-14">
        {whole ? "" : "At least "}
        <strong className="font-semibold">{jobsOf(preview.matched)}</strong> {"ids" in target ? "" : target.filter ? "match " : "of all jobs"}
        {"filter" in target && target.filter ? <code className="text-12 break-all">{target.filter}</code> : null}
        {"ids" in target ? "of those that were selected" : ""}
      </div>
      {whole ? null : <div className="text-12 text-muted">The newest {formatExact(preview.scan.examined)} jobs were looked at. The operation looks at all of them.</div>}
      {preview.skipped > 0 ? (
        <div className="text-muted">
          {jobsOf(preview.skipped)} will be skipped: they {other}.
        </div>
      ) : null}
      {preview.matched > 0 ? (
        <dl className="grid grid-cols-[max-content_1fr] gap-x-6 gap-y-1">
          <Split name="State" counts={preview.by_state} />
          <Split name="Kind" counts={preview.by_kind} />
          <Split name="Queue" counts={preview.by_queue} />
          <dt className="text-muted">Some of them</dt>
          <dd className="flex flex-wrap gap-x-3">
            {preview.sample.slice(0, 5).map((job) => (
              <Link key={job} to="/jobs/$id" params={{ id: job }} target="_blank" className="font-mono text-12" title={job}>
                {shortId(job)}
              </Link>
            ))}
          </dd>
        </dl>
      ) : (
        <div className="text-muted">There is nothing to {action}: {action === "cancel" ? "only jobs that have not ended can be cancelled" : `only jobs that have ended can be ${action === "replay" ? "replayed" : "deleted"}`}.</div>
      )}
    </div>
  );
}

const MOST_SHOWN = 6;

function Split({ name, counts }: { name: string; counts: Record<string, number> }) {
  const parts = Object.entries(counts).sort((a, b) => b[1] - a[1]);
  const rest = parts.slice(MOST_SHOWN).reduce((sum, [, count]) => sum + count, 0);
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="flex flex-wrap gap-x-4">
        {parts.slice(0, MOST_SHOWN).map(([value, count]) => (
          <span key={value}>
            {value} <span className="text-muted">{formatExact(count)}</span>
          </span>
        ))}
        {rest > 0 ? <span className="text-muted">others {formatExact(rest)}</span> : null}
      </dd>
    </>
  );
}
