/** Makes a schedule or changes one, and shows meanwhile when it will fire. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api } from "@/api/client";
import { kinds, timeseries } from "@/api/queries";
import type { Schedule } from "@/api/types";
import { Button, CliLine, Drawer, ErrorPanel, SkeletonRows, toast } from "@/design";
import { errorAt, Field } from "@/pages/Field";
import { ruleInEnglish } from "./english";
import { cliOf, formOf, NEW, payloadProblem, requestOf, type ScheduleForm } from "./form";
import { Instants } from "./Instants";
import { overlapWarning } from "./overlap";
import { payloadOf, preview } from "./queries";

const OVERLAP = [
  ["skip", "Skip the next one"],
  ["allow", "Fire it all the same"],
  ["queue_one", "Let one wait, skip those after it"],
  ["cancel_previous", "Cancel the job that runs"],
] as const;
const MISFIRE = [
  ["fire_once", "Fire the last of them"],
  ["fire_all", "Fire all of the last hour"],
  ["skip", "Fire none"],
] as const;

/** `schedule` is what is edited; without one, a new one is made. */
export function Editor({ schedule, onClose }: { schedule?: Schedule; onClose: () => void }) {
  return schedule ? <EditorOf schedule={schedule} onClose={onClose} /> : <Form first={NEW} onClose={onClose} />;
}

function EditorOf({ schedule, onClose }: { schedule: Schedule; onClose: () => void }) {
  // What was there when it was opened: a schedule that fires meanwhile changes nothing under the hands.
  const [held] = useState(schedule);
  const payload = useQuery({ ...payloadOf(held.name), staleTime: Infinity, gcTime: 0 });
  if (payload.data !== undefined) return <Form first={formOf(held, payload.data)} before={held} onClose={onClose} />;
  return (
    <Drawer open onOpenChange={(open) => !open && onClose()} title={`Edit ${held.name}`}>
      {payload.error ? <ErrorPanel error={payload.error} onRetry={() => void payload.refetch()} /> : <SkeletonRows rows={6} />}
    </Drawer>
  );
}

/** What was typed a moment ago: not every key asks the server. */
function useSettledText(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), 250);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

function Form({ first, before, onClose }: { first: ScheduleForm; before?: Schedule; onClose: () => void }) {
  const [form, setForm] = useState(first);
  const client = useQueryClient();
  const known = useQuery(kinds());
  const badPayload = payloadProblem(form.payload);
  // The preview needs a name and a kind, and does not care which.
  const asked = useSettledText(requestOf({ ...form, payload: "", name: form.name || "preview", kind: form.kind || "preview" }, before));
  const seen = useQuery(preview(asked));
  const wanted = useSettledText(form.kind.trim());
  const ran = useQuery({ ...timeseries({ metric: "run", kind: wanted, from: "24h", step: "1h" }), enabled: wanted !== "", retry: false }).data;
  const warning = wanted ? overlapWarning(seen.data?.next ?? [], ran?.series[0]?.total.p95_ms, wanted, form.overlap) : undefined;
  const save = useMutation({
    mutationFn: () => {
      const body = requestOf(form, before) as never;
      return before ? api.put("/v1/schedules/{name}", { path: { name: before.name }, body }) : api.post("/v1/schedules", { body });
    },
    onSuccess: async () => {
      toast.done(before ? `Saved schedule ${before.name}.` : `Made schedule ${form.name.trim()}.`);
      onClose();
      await client.invalidateQueries({ queryKey: ["schedules"] });
    },
  });
  const set = (field: keyof ScheduleForm) => (event: { target: { value: string } }) => setForm({ ...form, [field]: event.target.value });
  const refused = (...pointers: string[]) => errorAt(save.error, ...pointers) ?? errorAt(seen.error, ...pointers);
  const changed = JSON.stringify(form) !== JSON.stringify(first);
  const ready = changed && form.name.trim() !== "" && form.kind.trim() !== "" && !badPayload;
  return (
    <Drawer
      open
      onOpenChange={(open) => !open && onClose()}
      title={before ? `Edit ${before.name}` : "New schedule"}
      width="w-[640px]"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" disabled={!ready} busy={save.isPending} onClick={() => save.mutate()}>
            Save schedule
          </Button>
        </>
      }
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (ready) save.mutate();
        }}
      >
        {before ? null : (
          <Field label="Name" error={refused("/name")}>
            <input className="field" required value={form.name} spellCheck={false} autoComplete="off" placeholder="nightly-report" onChange={set("name")} />
          </Field>
        )}
        <div className="grid grid-cols-[150px_1fr_1fr] gap-3 max-sm:grid-cols-1">
          <Field label="It fires">
            <select className="field" value={form.rule} onChange={set("rule")}>
              <option value="cron">by the calendar</option>
              <option value="every">again and again</option>
              <option value="at">once</option>
            </select>
          </Field>
          {form.rule === "cron" ? (
            <>
              <Field label="Cron expression" error={refused("/cron")} hint="Minute, hour, day, month, weekday">
                <input className="field font-mono" required value={form.cron} spellCheck={false} autoComplete="off" onChange={set("cron")} />
              </Field>
              <Field label="Time zone" error={refused("/time_zone")}>
                <input className="field" list="schedule-zones" value={form.time_zone} spellCheck={false} autoComplete="off" onChange={set("time_zone")} />
              </Field>
              <datalist id="schedule-zones">
                {["UTC", ...Intl.supportedValuesOf("timeZone")].map((zone) => (
                  <option key={zone}>{zone}</option>
                ))}
              </datalist>
            </>
          ) : form.rule === "every" ? (
            <Field label="After every" error={refused("/every")} hint="A duration: 30s, 15m, 1h">
              <input className="field" required value={form.every} spellCheck={false} autoComplete="off" onChange={set("every")} />
            </Field>
          ) : (
            <Field label="At" error={refused("/at")} hint="2027-01-31T09:00:00+01:00">
              <input className="field" required value={form.at} spellCheck={false} autoComplete="off" onChange={set("at")} />
            </Field>
          )}
        </div>
        <section aria-label="When it will fire" className="rounded border border-line bg-canvas">
          <p className="border-b border-line px-3 py-2 font-medium">{seen.data ? ruleInEnglish(seen.data.schedule) : "When it will fire"}</p>
          {seen.error ? (
            <p className="px-3 py-2 text-muted">{errorAt(seen.error, "/cron", "/every", "/at", "/time_zone") ? "It says nothing yet: see above." : seen.error.message}</p>
          ) : seen.data ? (
            <Instants items={seen.data.next} compact />
          ) : (
            <SkeletonRows rows={4} />
          )}
          {warning ? (
            <p role="status" className="border-t border-line px-3 py-2">
              <span className="border-l-2 border-retrying pl-2">{warning}</span>
            </p>
          ) : null}
        </section>
        <div className="grid grid-cols-2 gap-3 max-sm:grid-cols-1">
          <Field label="Kind of job" error={refused("/job/kind", "/kind")}>
            <input className="field" required list="schedule-kinds" value={form.kind} spellCheck={false} autoComplete="off" onChange={set("kind")} />
          </Field>
          <datalist id="schedule-kinds">
            {(known.data?.items ?? []).map(({ kind }) => (
              <option key={kind}>{kind}</option>
            ))}
          </datalist>
          <Field label="Queue" error={refused("/job/queue", "/queue")}>
            <input className="field" value={form.queue} spellCheck={false} autoComplete="off" onChange={set("queue")} />
          </Field>
        </div>
        <Field label="Payload" error={badPayload ?? refused("/job/payload", "/payload")} hint="JSON; empty for none">
          <textarea className="field min-h-20 font-mono text-12" value={form.payload} spellCheck={false} onChange={set("payload")} />
        </Field>
        <div className="grid grid-cols-3 gap-3 max-sm:grid-cols-1">
          <Field label="If still running" error={refused("/overlap")}>
            <select className="field w-full" value={form.overlap} onChange={set("overlap")}>
              {OVERLAP.map(([value, text]) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
            </select>
          </Field>
          <Field label="Missed runs" error={refused("/misfire")}>
            <select className="field w-full" value={form.misfire} onChange={set("misfire")}>
              {MISFIRE.map(([value, text]) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
            </select>
          </Field>
          <Field label="Max jitter" error={refused("/jitter")}>
            <input className="field w-full" value={form.jitter} spellCheck={false} autoComplete="off" onChange={set("jitter")} />
          </Field>
        </div>
        {before ? null : <CliLine command={cliOf(form)} />}
        {save.error ? <ErrorPanel error={save.error} title="Nothing was saved" /> : null}
        <button type="submit" hidden aria-hidden="true" tabIndex={-1} />
      </form>
    </Drawer>
  );
}
