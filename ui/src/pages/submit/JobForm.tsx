/** The fields. Objections of the server stand at the field they are about. */
import { useQuery } from "@tanstack/react-query";
import { ChevronDown, ChevronRight, Send, WandSparkles } from "lucide-react";
import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { api } from "@/api/client";
import type { Problem } from "@/api/problem";
import { kindCounts, useMay, workers } from "@/api/queries";
import { Button, ErrorPanel, KeyHint, toast, zoneName } from "@/design";
import { MOD } from "@/shell/keys";
import { type Draft, formatted, MORE, payloadProblem, placed } from "./form";
import { isSample, noteOf, sampleOf } from "./samples";

interface Props {
  draft: Draft;
  onChange: (change: Partial<Draft>) => void;
  onSubmit: () => void;
  busy: boolean;
  problem: Problem | undefined;
}

export function JobForm({ draft, onChange, onSubmit, busy, problem }: Props) {
  const [more, setMore] = useState(() => MORE.some((field) => draft[field] !== ""));
  const { fields, rest } = placed(problem?.fields ?? []);
  const wrong = payloadProblem(draft.payload);
  const known = useKnown();
  const id = useId();
  const open = more || MORE.some((field) => fields[field] !== undefined);
  const form = useRef<HTMLFormElement>(null);
  // Whoever is refused goes on where the first mistake is.
  useEffect(() => {
    if (problem) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [problem]);
  const submit = () => {
    if (!busy && wrong === undefined) onSubmit();
  };
  const field = (name: keyof Draft, label: string, hint?: string, extra?: object) => (
    <Field id={`${id}${name}`} label={label} hint={hint} error={fields[name]}>
      <input className="field w-full" id={`${id}${name}`} {...described(`${id}${name}`, hint, fields[name])} autoComplete="off" spellCheck={false} value={draft[name]} onChange={(event) => onChange({ [name]: event.target.value })} {...extra} />
    </Field>
  );
  return (
    // Keys of a form belong to it; the fields in it are the controls.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <form
      ref={form}
      className="flex min-w-0 flex-col gap-4"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      onKeyDown={(event) => {
        if (event.key !== "Enter") return;
        if (event.metaKey || event.ctrlKey) {
          event.preventDefault();
          submit();
        } else if (event.target instanceof HTMLInputElement) {
          // In a field Enter ends the typing of a name. Only the button, or Ctrl and Enter, submits.
          event.preventDefault();
        }
      }}
    >
      <div className="grid grid-cols-2 gap-4 max-sm:grid-cols-1">
        <Field id={`${id}kind`} label="Kind" hint={noteOf(draft.kind) ?? "Picks the handler."} error={fields.kind}>
          <input
            className="field w-full"
            id={`${id}kind`}
            {...described(`${id}kind`, "note", fields.kind)}
            list={`${id}kinds`}
            placeholder="email.send"
            autoComplete="off"
            autoFocus={draft.kind === ""}
            spellCheck={false}
            value={draft.kind}
            onChange={(event) => {
              const sample = sampleOf(event.target.value);
              // What somebody typed is never replaced.
              onChange({ kind: event.target.value, ...(sample && isSample(draft.payload) ? { payload: sample } : {}) });
            }}
          />
        </Field>
        {field("queue", "Queue", "default if empty", { list: `${id}queues`, placeholder: "default" })}
      </div>
      <datalist id={`${id}kinds`}>
        {known.kinds.map((kind) => (
          <option key={kind}>{kind}</option>
        ))}
      </datalist>
      <datalist id={`${id}queues`}>
        {known.queues.map((queue) => (
          <option key={queue}>{queue}</option>
        ))}
      </datalist>
      <Field id={`${id}payload`} label="Payload" hint={wrong ? undefined : "Any JSON, kept byte for byte. Empty: no payload."} error={fields.payload ?? (wrong ? `This is ${wrong}.` : undefined)} aside={<PayloadTools draft={draft} onChange={onChange} />}>
        <textarea
          className="field min-h-52 w-full font-mono text-12"
          id={`${id}payload`}
          {...described(`${id}payload`, wrong ? undefined : "note", fields.payload ?? wrong)}
          spellCheck={false}
          value={draft.payload}
          onChange={(event) => onChange({ payload: event.target.value })}
        />
      </Field>
      <When id={id} draft={draft} onChange={onChange} errors={fields} />
      <div>
        <Button look="quiet" className="-ml-3" aria-expanded={open} icon={open ? <ChevronDown size={14} /> : <ChevronRight size={14} />} onClick={() => setMore(!open)}>
          Retries, uniqueness and more
        </Button>
        {open ? (
          <div className="grid grid-cols-3 gap-4 pt-2 max-sm:grid-cols-1">
            {field("priority", "Priority", "−128 to 127, larger first", { inputMode: "numeric", placeholder: "0" })}
            {field("maxAttempts", "Attempts in all", undefined, { inputMode: "numeric", placeholder: "5" })}
            {field("timeout", "Timeout of an attempt", "30s, 1h30m or none", { placeholder: "1h" })}
            {field("uniqueKey", "Unique key", "At most one live job has it")}
            {field("uniqueFor", "Key held after success", "24h, or forever")}
            {field("concurrencyKey", "Concurrency key", "Shares the limits of its queue’s keys")}
            {field("threads", "Threads", "All or none", { inputMode: "numeric", placeholder: "1" })}
            {field("tags", "Tags", "Between commas")}
          </div>
        ) : null}
      </div>
      {problem ? (
        problem.fields.length > 0 && rest.length === 0 ? (
          <p role="alert">It was not submitted: see the marked {problem.fields.length === 1 ? "field" : "fields"}.</p>
        ) : (
          <ErrorPanel error={problem} title="It was not submitted" />
        )
      ) : null}
      <div className="flex items-center gap-3">
        <Button type="submit" look="primary" icon={<Send size={14} />} busy={busy} disabled={wrong !== undefined || draft.kind.trim() === ""}>
          Submit job
        </Button>
        <span className="text-12 text-muted max-sm:hidden">
          <KeyHint keys={`${MOD} Enter`} />
        </span>
      </div>
    </form>
  );
}

function described(id: string, hint: string | undefined, error: string | undefined) {
  const by = error !== undefined ? `${id}error` : hint !== undefined ? `${id}hint` : undefined;
  return { "aria-invalid": error !== undefined, ...(by ? { "aria-describedby": by } : {}) };
}

function Field({ id, label, hint, error, aside, children }: { id: string; label: string; hint?: string | undefined; error?: string | undefined; aside?: ReactNode; children: ReactNode }) {
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <div className="flex min-h-6 items-center gap-2">
        <label htmlFor={id} className="font-medium">
          {label}
        </label>
        {aside ? <span className="ml-auto flex gap-1">{aside}</span> : null}
      </div>
      {children}
      {error !== undefined ? (
        <div id={`${id}error`} className="border-l-2 border-dead pl-2 text-12">
          {error}
        </div>
      ) : hint !== undefined ? (
        <div id={`${id}hint`} className="text-12 text-muted">
          {hint}
        </div>
      ) : null}
    </div>
  );
}

/** A sample, the payload of the last job of the kind, and line breaks. */
function PayloadTools({ draft, onChange }: Pick<Props, "draft" | "onChange">) {
  const mayRead = useMay("read_payload");
  const sample = sampleOf(draft.kind);
  const [busy, setBusy] = useState(false);
  const last = async () => {
    setBusy(true);
    try {
      const { items } = await api.get("/v1/jobs", { query: { kind: draft.kind.trim(), limit: 1 } });
      if (!items[0]) {
        toast.failed(`There is no job of kind ${draft.kind.trim()} yet`);
        return;
      }
      onChange({ payload: formatted(await api.text("/v1/jobs/{id}/payload", { id: items[0].id })) });
    } catch (thrown) {
      toast.failed("Couldn't read the last payload", thrown);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      {sample && sample !== draft.payload ? (
        <Button small look="quiet" onClick={() => onChange({ payload: sample })}>
          Sample
        </Button>
      ) : null}
      {mayRead && draft.kind.trim() ? (
        <Button small look="quiet" busy={busy} onClick={() => void last()}>
          As the last job
        </Button>
      ) : null}
      <Button small look="quiet" icon={<WandSparkles size={12} />} onClick={() => onChange({ payload: formatted(draft.payload) })}>
        Format
      </Button>
    </>
  );
}

function When({ id, draft, onChange, errors }: { id: string; draft: Draft; onChange: Props["onChange"]; errors: Partial<Record<keyof Draft, string>> }) {
  const choices = [
    ["now", "Now"],
    ["delay", "With delay"],
    ["at", "At a time"],
  ] as const;
  const error = draft.when === "delay" ? errors.delay : draft.when === "at" ? errors.at : undefined;
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="pb-1 font-medium">Run it</legend>
      <div className="flex flex-wrap items-center gap-x-5 gap-y-2">
        {choices.map(([value, label]) => (
          <label key={value} className="inline-flex min-h-6 items-center gap-2">
            <input type="radio" className="size-4 accent-accent" name={`${id}when`} checked={draft.when === value} onChange={() => onChange({ when: value })} />
            {label}
          </label>
        ))}
        {draft.when === "delay" ? <input className="field w-40" aria-label="How long from now" placeholder="10m" {...described(`${id}when`, undefined, error)} value={draft.delay} onChange={(event) => onChange({ delay: event.target.value })} /> : null}
        {draft.when === "at" ? (
          <>
            <input className="field" type="datetime-local" aria-label="The moment, in the time of this browser" {...described(`${id}when`, undefined, error)} value={draft.at} onChange={(event) => onChange({ at: event.target.value })} />
            <span className="text-12 text-muted">{zoneName("local")}</span>
          </>
        ) : null}
      </div>
      {error ? (
        <div id={`${id}whenerror`} className="border-l-2 border-dead pl-2 text-12">
          {error}
        </div>
      ) : null}
    </fieldset>
  );
}

/** Names to complete with: of jobs that are there, and of what workers handle. */
function useKnown(): { kinds: string[]; queues: string[] } {
  const pairs = useQuery(kindCounts()).data ?? [];
  const fleet = useQuery(workers()).data?.items ?? [];
  return {
    kinds: [...new Set([...pairs.map((pair) => pair.kind), ...fleet.flatMap((worker) => worker.kinds)])].sort(),
    queues: [...new Set(["default", ...pairs.map((pair) => pair.queue), ...fleet.flatMap((worker) => worker.queues)])].sort(),
  };
}
