/** The settings of a queue as a form: what was changed, what is sent, and what one would type. */
import type { Queue } from "@/api/types";
import { shellWord } from "@/design/CopyButton";

/** Every field as text; empty means that there is no such limit. */
export interface QueueForm {
  policy: string;
  weight: string;
  precedence: string;
  max_running: string;
  rate: string;
  burst: string;
  max_depth: string;
  block: string;
  key_max_running: string;
  key_rate: string;
  key_burst: string;
  key_max_depth: string;
  ageing: string;
  ageing_at_most: string;
  keep_finished: string;
  keep_dead: string;
}

export type QueueField = keyof QueueForm;

export const FIELD_LABEL: Record<QueueField, string> = {
  policy: "Policy",
  weight: "Weight",
  precedence: "Precedence",
  max_running: "Running at a time",
  rate: "Starts per period",
  burst: "Starts at once",
  max_depth: "Waiting at most",
  block: "Wait for room",
  key_max_running: "Running per key",
  key_rate: "Starts per period and key",
  key_burst: "Starts at once per key",
  key_max_depth: "Waiting per key",
  ageing: "Gains one priority every",
  ageing_at_most: "Gains at most",
  keep_finished: "Keep finished jobs",
  keep_dead: "Keep dead jobs",
};

/** Where the server says that something is wrong with a field. */
export const POINTER: Record<QueueField, string> = {
  policy: "/policy",
  weight: "/weight",
  precedence: "/precedence",
  max_running: "/limits/max_running",
  rate: "/limits/rate",
  burst: "/limits/burst",
  max_depth: "/limits/max_depth",
  block: "/block",
  key_max_running: "/key_limits/max_running",
  key_rate: "/key_limits/rate",
  key_burst: "/key_limits/burst",
  key_max_depth: "/key_limits/max_depth",
  ageing: "/ageing/every",
  ageing_at_most: "/ageing/at_most",
  keep_finished: "/retention/finished",
  keep_dead: "/retention/dead",
};

const text = (value: unknown): string => (value === null || value === undefined ? "" : String(value));

export function formOf(queue: Queue): QueueForm {
  const { limits, key_limits: keys, ageing, retention } = queue;
  return {
    policy: queue.policy,
    weight: text(queue.weight ?? 1),
    precedence: text(queue.precedence ?? 0),
    max_running: text(limits?.max_running),
    rate: text(limits?.rate),
    burst: text(limits?.burst),
    max_depth: text(limits?.max_depth),
    block: text(queue.block),
    key_max_running: text(keys?.max_running),
    key_rate: text(keys?.rate),
    key_burst: text(keys?.burst),
    key_max_depth: text(keys?.max_depth),
    ageing: text(ageing?.every),
    ageing_at_most: text(ageing?.at_most),
    keep_finished: retention.finished,
    keep_dead: retention.dead,
  };
}

export interface Change {
  field: QueueField;
  from: string;
  to: string;
}

export function changesOf(before: QueueForm, after: QueueForm): Change[] {
  return (Object.keys(before) as QueueField[])
    .filter((field) => before[field] !== after[field].trim())
    .map((field) => ({ field, from: before[field], to: after[field].trim() }));
}

/** A number where it is one, so that the server says what is wrong where it is not. */
const number = (value: string): number | string => (/^-?\d+$/.test(value) ? Number(value) : value);
const orNone = (value: string, convert: (value: string) => number | string = (same) => same) => (value === "" ? "none" : convert(value));

/** What an empty field means where there is always a value. */
const DEFAULT = { weight: "1", precedence: "0" } as const;

/** Only what was changed is sent: what somebody else sets meanwhile stays. */
export function bodyOf(changes: readonly Change[], after: QueueForm): Record<string, unknown> {
  const body: Record<string, Record<string, unknown>> & Record<string, unknown> = {};
  const put = (part: string, name: string, value: unknown) => {
    body[part] = { ...(body[part] as object | undefined), [name]: value };
  };
  for (const { field, to } of changes) {
    switch (field) {
      case "policy":
        (body as Record<string, unknown>)["policy"] = to;
        break;
      case "weight":
      case "precedence":
        (body as Record<string, unknown>)[field] = number(to || DEFAULT[field]);
        break;
      case "max_running":
      case "burst":
      case "max_depth":
        put("limits", field, orNone(to, number));
        break;
      case "rate":
        put("limits", field, orNone(to));
        break;
      case "key_max_running":
      case "key_burst":
      case "key_max_depth":
        put("key_limits", field.slice(4), orNone(to, number));
        break;
      case "key_rate":
        put("key_limits", "rate", orNone(to));
        break;
      case "block":
        (body as Record<string, unknown>)["block"] = to === "" ? "0s" : to;
        break;
      case "ageing":
      case "ageing_at_most": {
        const every = after.ageing.trim();
        const most = after.ageing_at_most.trim();
        (body as Record<string, unknown>)["ageing"] = every === "" ? "none" : { every, ...(most === "" ? {} : { at_most: number(most) }) };
        break;
      }
      case "keep_finished":
        put("retention", "finished", to);
        break;
      case "keep_dead":
        put("retention", "dead", to);
        break;
    }
  }
  return body;
}

/** The same change in a terminal. */
export function cliOf(queue: string, changes: readonly Change[]): string {
  const flags = changes.map(({ field, to }) => {
    const empty = field === "weight" || field === "precedence" ? DEFAULT[field] : field === "block" ? "0s" : "none";
    const value = to === "" ? empty : to;
    return `--${field.replaceAll("_", "-")} ${shellWord(value)}`;
  });
  return ["ganger queue set", shellWord(queue), ...flags].join(" ");
}

/** The limits in a few words, for a table: "3 at a time · 100/1m". */
export function limitsInWords(queue: Queue): string {
  const { limits, key_limits: keys } = queue;
  const words = [
    limits?.max_running != null ? `${limits.max_running} at a time` : "",
    limits?.rate ? limits.rate : "",
    limits?.max_depth != null ? `${limits.max_depth} deep` : "",
    keys?.max_running != null ? `${keys.max_running} per key` : "",
    keys?.rate ? `${keys.rate} per key` : "",
  ];
  return words.filter(Boolean).join(" · ");
}
