/** The form as data: what is sent, what it is on the command line and as curl, and where the server's objections belong. Pure. */
import { shellWord } from "@/design/CopyButton";
import { parseJson, prettyJson } from "@/design/json";

export interface Draft {
  kind: string;
  queue: string;
  /** JSON as it was typed: every digit goes out as it is. */
  payload: string;
  when: "now" | "delay" | "at";
  delay: string;
  /** As `datetime-local` gives it, in the zone of the browser. */
  at: string;
  priority: string;
  maxAttempts: string;
  timeout: string;
  uniqueKey: string;
  uniqueFor: string;
  concurrencyKey: string;
  threads: string;
  tags: string;
}

export const EMPTY: Draft = { kind: "", queue: "", payload: "", when: "now", delay: "", at: "", priority: "", maxAttempts: "", timeout: "", uniqueKey: "", uniqueFor: "", concurrencyKey: "", threads: "", tags: "" };

export const tagsOf = (text: string): string[] => text.split(/[,\s]+/).filter(Boolean);

/** A number if it is one; else the text, for the server to say what is wrong with it. */
const number = (text: string): number | string => (/^-?\d+$/.test(text.trim()) ? Number(text) : text.trim());

const moment = (local: string): string => {
  const at = Date.parse(local);
  return Number.isFinite(at) ? new Date(at).toISOString().replace(".000Z", "Z") : local;
};

/** Everything but the payload; what was left empty is left out, so that the server's defaults hold. */
function fieldsOf(draft: Draft): Record<string, unknown> {
  const fields: Record<string, unknown> = { kind: draft.kind.trim() };
  const put = (name: string, text: string, value: unknown = text.trim()) => {
    if (text.trim() !== "") fields[name] = value;
  };
  put("queue", draft.queue);
  put("priority", draft.priority, number(draft.priority));
  if (draft.when === "delay") put("delay", draft.delay);
  if (draft.when === "at") put("run_at", draft.at, moment(draft.at));
  put("max_attempts", draft.maxAttempts, number(draft.maxAttempts));
  put("timeout", draft.timeout);
  put("unique_key", draft.uniqueKey);
  put("unique_for", draft.uniqueFor);
  put("concurrency_key", draft.concurrencyKey);
  put("threads", draft.threads, number(draft.threads));
  put("tags", draft.tags, tagsOf(draft.tags));
  return fields;
}

/** The body of the request, with the payload byte for byte. */
export function bodyOf(draft: Draft): string {
  const fields = JSON.stringify(fieldsOf(draft));
  const payload = draft.payload.trim();
  return payload === "" ? fields : `${fields.slice(0, -1)},"payload":${payload}}`;
}

export function curlOf(draft: Draft, serverUrl: string, authentication: boolean): string {
  const lines = [`curl -s ${shellWord(`${serverUrl.replace(/\/+$/, "")}/v1/jobs`)}`];
  if (authentication) lines.push(`-H "Authorization: Bearer $GANGER_TOKEN"`);
  lines.push("-H 'Content-Type: application/json'", `-d ${shellWord(bodyOf(draft))}`);
  return lines.join(" \\\n  ");
}

export function cliOf(draft: Draft): string {
  const parts = ["ganger enqueue", shellWord(draft.kind.trim() || "KIND")];
  const add = (flag: string, text: string) => {
    if (text.trim() !== "") parts.push(flag, shellWord(text.trim()));
  };
  add("--queue", draft.queue);
  add("--payload", compact(draft.payload));
  add("--priority", draft.priority);
  if (draft.when === "delay") add("--delay", draft.delay);
  if (draft.when === "at" && draft.at) add("--at", moment(draft.at));
  add("--max-attempts", draft.maxAttempts);
  add("--timeout", draft.timeout);
  add("--key", draft.uniqueKey);
  add("--unique-for", draft.uniqueFor);
  add("--concurrency-key", draft.concurrencyKey);
  add("--threads", draft.threads);
  for (const tag of tagsOf(draft.tags)) add("--tag", tag);
  return parts.join(" ");
}

/** On one line where that changes nothing but white space. */
function compact(payload: string): string {
  try {
    // No string of JSON has a line break in it, so those are all between values.
    return prettyJson(parseJson(payload)).replace(/\n\s*/g, " ");
  } catch {
    return payload;
  }
}

/** What is wrong with a payload, before anybody is asked. */
export function payloadProblem(text: string): string | undefined {
  if (text.trim() === "") return undefined;
  try {
    parseJson(text);
    return undefined;
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}

/** With line breaks, every digit as it was; a text that is not JSON stays as it is. */
export function formatted(text: string): string {
  try {
    return prettyJson(parseJson(text));
  } catch {
    return text;
  }
}

const FIELD: Readonly<Record<string, keyof Draft>> = {
  kind: "kind",
  queue: "queue",
  payload: "payload",
  priority: "priority",
  delay: "delay",
  run_at: "at",
  max_attempts: "maxAttempts",
  timeout: "timeout",
  unique_key: "uniqueKey",
  unique_for: "uniqueFor",
  concurrency_key: "concurrencyKey",
  threads: "threads",
  tags: "tags",
};

/** The server's objections by the field they belong to; `rest` are those that no field of this form has. */
export function placed(errors: readonly { pointer: string; detail: string }[]): { fields: Partial<Record<keyof Draft, string>>; rest: string[] } {
  const fields: Partial<Record<keyof Draft, string>> = {};
  const rest: string[] = [];
  for (const { pointer, detail } of errors) {
    const name = pointer.split("/")[1] ?? "";
    const field = FIELD[name];
    if (field === undefined) rest.push(`${name || "request"} ${detail}`);
    else fields[field] = fields[field] === undefined ? detail : `${fields[field]}; ${detail}`;
  }
  return { fields, rest };
}

/** Fields that are folded away until one of them is used. */
export const MORE: readonly (keyof Draft)[] = ["priority", "maxAttempts", "timeout", "uniqueKey", "uniqueFor", "concurrencyKey", "threads", "tags"];
