/** Changes the limits of a queue, and shows what changes before it is saved. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { ArrowRight } from "lucide-react";
import { useState } from "react";
import { api } from "@/api/client";
import type { Queue } from "@/api/types";
import { Button, CliLine, Drawer, ErrorPanel, toast } from "@/design";
import { errorAt, Field } from "@/pages/Field";
import { bodyOf, changesOf, cliOf, FIELD_LABEL, formOf, POINTER, type QueueField } from "./limits";

const POLICIES = [
  ["least_recently_used", "Least recently used: whose last job is longest ago"],
  ["round_robin", "Round robin: in turn"],
  ["best_fit", "Best fit: the fewest free threads that suffice"],
  ["spread", "Spread: the most free threads"],
] as const;

const HINT: Partial<Record<QueueField, string>> = {
  weight: "Share of the starts: 1 to 1000",
  precedence: "Larger goes first: -128 to 127",
  rate: "As in 100/1m",
  burst: "After a pause; a tenth of the rate if empty",
  max_depth: "More submissions are refused, or held",
  block: "How long a submission waits for room, up to 30s",
  ageing: "A duration: 1m",
  ageing_at_most: "1 to 255",
  keep_finished: "A duration, none or forever",
  keep_dead: "A duration or forever",
};

const PARTS: readonly (readonly [string, readonly QueueField[]])[] = [
  ["Among other queues", ["weight", "precedence"]],
  ["The queue as a whole", ["max_running", "rate", "burst", "max_depth", "block"]],
  ["Each concurrency key of it", ["key_max_running", "key_rate", "key_burst", "key_max_depth"]],
  ["Waiting makes up for priority", ["ageing", "ageing_at_most"]],
  ["How long jobs are kept", ["keep_finished", "keep_dead"]],
];

export function LimitsEditor({ queue, onClose }: { queue: Queue; onClose: () => void }) {
  // What was there when it was opened: figures that flow in meanwhile change nothing under the hands.
  const [before] = useState(() => formOf(queue));
  const [form, setForm] = useState(before);
  const client = useQueryClient();
  const changes = changesOf(before, form);
  const save = useMutation({
    mutationFn: () => api.put("/v1/queues/{queue}", { path: { queue: queue.queue }, body: bodyOf(changes, form) as never }),
    onSuccess: async () => {
      toast.done(`Saved ${changes.length === 1 ? "one setting" : `${changes.length} settings`} of ${queue.queue}.`);
      onClose();
      await client.invalidateQueries({ queryKey: ["queues"] });
    },
  });
  const set = (field: QueueField) => (event: { target: { value: string } }) => setForm({ ...form, [field]: event.target.value });
  const refused = (field: QueueField) => errorAt(save.error, POINTER[field], ...(field === "ageing" ? ["/ageing"] : []));
  const placed = (Object.keys(POINTER) as QueueField[]).some((field) => refused(field));
  return (
    <Drawer
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Limits of ${queue.queue}`}
      description="An empty field means that there is no such limit."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" disabled={changes.length === 0} busy={save.isPending} onClick={() => save.mutate()}>
            {changes.length === 0 ? "Nothing changed" : changes.length === 1 ? "Save one change" : `Save ${changes.length} changes`}
          </Button>
        </>
      }
    >
      <form
        className="flex flex-col gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          if (changes.length > 0) save.mutate();
        }}
      >
        <Field label="Which of the workers that fit gets the next job" error={refused("policy")}>
          <select className="field" value={form.policy} onChange={set("policy")}>
            {POLICIES.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </Field>
        {PARTS.map(([title, fields]) => (
          <fieldset key={title} className="grid grid-cols-2 gap-x-4 gap-y-3 border-t border-line pt-3">
            <legend className="pr-3 font-medium">{title}</legend>
            {fields.map((field) => (
              <Field key={field} label={FIELD_LABEL[field]} error={refused(field)} {...(HINT[field] ? { hint: HINT[field] } : {})}>
                <input className="field w-full" value={form[field]} placeholder="none" spellCheck={false} autoComplete="off" onChange={set(field)} />
              </Field>
            ))}
          </fieldset>
        ))}
        {changes.length > 0 ? (
          <section aria-label="What changes" className="flex flex-col gap-3 border-t border-line pt-3">
            <ul className="flex flex-col gap-1">
              {changes.map(({ field, from, to }) => (
                <li key={field} className="flex flex-wrap items-center gap-2">
                  <span className="w-44 text-muted">{FIELD_LABEL[field]}</span>
                  <del className="no-underline text-muted">{from || "none"}</del>
                  <ArrowRight size={13} aria-label="becomes" className="text-muted" />
                  <ins className="font-medium no-underline">{to || "none"}</ins>
                </li>
              ))}
            </ul>
            <CliLine command={cliOf(queue.queue, changes)} />
          </section>
        ) : null}
        {save.error && !placed ? <ErrorPanel error={save.error} title="Nothing was changed" /> : null}
        <button type="submit" hidden aria-hidden="true" tabIndex={-1} />
      </form>
    </Drawer>
  );
}
