/** Makes up for a range of the past, after showing which instants that means. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "@/api/client";
import { Button, CliLine, Dialog, ErrorPanel, formatCount, shellWord, toast } from "@/design";
import { errorAt, Field } from "@/pages/Field";
import { Instants } from "./Instants";

/** What a field of the form means in UTC, to the second; the text itself if it is no moment. */
export function momentOf(local: string): string {
  const at = Date.parse(local);
  return Number.isFinite(at) ? new Date(at).toISOString().replace(".000Z", "Z") : local;
}

/** `2026-11-16T22:04`, as such fields want it. */
function fieldOf(at: number): string {
  const zone = new Date(at).getTimezoneOffset() * 60_000;
  return new Date(at - zone).toISOString().slice(0, 16);
}

export function Backfill({ name, onClose }: { name: string; onClose: () => void }) {
  const [from, setFrom] = useState(() => fieldOf(Date.now() - 24 * 3_600_000));
  const [to, setTo] = useState(() => fieldOf(Date.now() - 60_000));
  const client = useQueryClient();
  const range = { from: momentOf(from), to: momentOf(to) };
  const look = useMutation({ mutationFn: () => api.post("/v1/schedules/{name}:backfill", { path: { name }, body: { ...range, preview: true } }) });
  const run = useMutation({
    mutationFn: () => api.post("/v1/schedules/{name}:backfill", { path: { name }, body: range }),
    onSuccess: async (fired) => {
      toast.done(`Backfilled ${name}: ${formatCount(fired.occurrences.length)} of ${formatCount(fired.considered)} instants were decided.`);
      onClose();
      await client.invalidateQueries({ queryKey: ["schedules", name] });
    },
  });
  const instants = look.data?.instants ?? [];
  const count = look.data?.considered ?? 0;
  const change = (set: (value: string) => void) => (event: { target: { value: string } }) => {
    set(event.target.value);
    // What was previewed is no longer what would be done.
    look.reset();
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Backfill ${name}`}
      description="Fires the instants of a range of the past that did not fire. Those that did are skipped."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          {look.data ? (
            <Button look="primary" disabled={count === 0} busy={run.isPending} onClick={() => run.mutate()}>
              {count === 0 ? "Nothing to fire" : `Backfill ${formatCount(count)} ${count === 1 ? "instant" : "instants"}`}
            </Button>
          ) : (
            <Button look="primary" busy={look.isPending} onClick={() => look.mutate()}>
              Preview
            </Button>
          )}
        </>
      }
    >
      <div className="flex flex-col gap-3">
        <div className="grid grid-cols-2 gap-3">
          <Field label="From, local time" error={errorAt(look.error, "/from")}>
            <input type="datetime-local" className="field" value={from} onChange={change(setFrom)} />
          </Field>
          <Field label="To, local time" error={errorAt(look.error, "/to")}>
            <input type="datetime-local" className="field" value={to} onChange={change(setTo)} />
          </Field>
        </div>
        {look.data ? (
          <section aria-label="Instants that would fire" className="max-h-60 overflow-y-auto rounded border border-line">
            {count === 0 ? <p className="px-3 py-3 text-muted">Every instant of this range has fired already, or there is none.</p> : <Instants items={instants} compact />}
            {count > instants.length && instants.length > 0 ? <p className="px-3 py-2 text-muted">and {formatCount(count - instants.length)} more</p> : null}
          </section>
        ) : null}
        <CliLine command={`ganger schedule backfill ${shellWord(name)} --from ${range.from} --to ${range.to}`} />
        {look.error ?? run.error ? <ErrorPanel error={look.error ?? run.error} title="Nothing was fired" /> : null}
      </div>
    </Dialog>
  );
}
