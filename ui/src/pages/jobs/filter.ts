/** The filter as the page sees it: its conditions one by one, to be shown as chips, replaced, negated and completed. The server alone decides what it means. */
import { STATES } from "@/api/types";

export interface Term {
  /** As it was typed. */
  text: string;
  from: number;
  to: number;
  negated: boolean;
  /** `state`, `payload.user.id`; undefined for a bare word or parentheses. */
  field: string | undefined;
}

/** The conditions of a filter, split where a space stands outside quotes and parentheses. */
export function termsOf(filter: string): Term[] {
  const terms: Term[] = [];
  let from = -1;
  let depth = 0;
  let quoted = false;
  const end = (to: number) => {
    if (from >= 0) terms.push(termOf(filter.slice(from, to), from));
    from = -1;
  };
  for (let at = 0; at < filter.length; at += 1) {
    const char = filter.charAt(at);
    if (quoted) {
      if (char === "\\") at += 1;
      else if (char === '"') quoted = false;
      continue;
    }
    if (/\s/.test(char) && depth === 0) {
      end(at);
      continue;
    }
    if (from < 0) from = at;
    if (char === '"') quoted = true;
    else if (char === "(") depth += 1;
    else if (char === ")") depth = Math.max(0, depth - 1);
  }
  end(filter.length);
  return terms;
}

function termOf(text: string, from: number): Term {
  const negated = text.startsWith("-");
  const field = /^-?([a-z_]+(?:\.[^\s:<>=~"()]+)*)(?::|<=?|>=?|~)/.exec(text)?.[1];
  return { text, from, to: from + text.length, negated, field };
}

/** Whether every condition stands by itself. With `or` none can be taken out without changing what the others mean. */
export function isPlain(terms: readonly Term[]): boolean {
  return terms.every((term) => !/^(?:or|and|not)$/i.test(term.text));
}

/** Without that condition. */
export function without(filter: string, index: number): string {
  return joined(termsOf(filter).filter((_, at) => at !== index));
}

/** With that condition turned into its opposite. */
export function opposite(filter: string, index: number): string {
  const terms = termsOf(filter);
  return terms.map((term, at) => (at === index ? (term.negated ? term.text.slice(1) : `-${term.text}`) : term.text)).join(" ");
}

/** With these conditions in place of all of that field; nothing takes them out. In a filter with `or` the rest is put into parentheses. */
export function withField(filter: string, field: string, conditions: string): string {
  const terms = termsOf(filter);
  if (!isPlain(terms)) return [conditions, `(${filter.trim()})`].filter(Boolean).join(" ");
  return [conditions, joined(terms.filter((term) => term.field !== field))].filter(Boolean).join(" ");
}

/** The states of a filter that asks for some by one plain condition: `state:dead,retrying`. */
export function statesOf(filter: string): string | undefined {
  const found = termsOf(filter).filter((term) => term.field === "state");
  const [only] = found;
  return found.length === 1 && only && !only.negated ? only.text.slice("state:".length) : undefined;
}

/** A value as the language takes it: quoted, if it must be. */
export function quote(value: string): string {
  return /^[\w.@+/-]+$/.test(value) ? value : `"${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

const joined = (terms: readonly Term[]) => terms.map((term) => term.text).join(" ");

/** The server counts bytes; texts of the page have characters. */
export function characterAt(text: string, byte: number): number {
  let bytes = 0;
  let at = 0;
  for (const char of text) {
    if (bytes >= byte) break;
    bytes += new TextEncoder().encode(char).length;
    at += char.length;
  }
  return at;
}

/** The part of a filter that is underlined: from where it breaks to the end of that word. */
export function brokenPart(text: string, byte: number): { from: number; to: number } {
  const at = Math.min(characterAt(text, byte), text.length);
  const term = termsOf(text).find((each) => at >= each.from && at < each.to);
  if (term) return { from: at, to: term.to };
  return at >= text.length ? { from: Math.max(0, text.length - 1), to: text.length } : { from: at, to: at + 1 };
}

/** A part of the language, and what it is. */
export interface Suggestion {
  text: string;
  about: string;
}

export const FIELDS: readonly Suggestion[] = [
  { text: "state:", about: "where it is" },
  { text: "queue:", about: "its queue" },
  { text: "kind:", about: "what picks its handler; mail.* is any of mail" },
  { text: "error~", about: "a part of its last error" },
  { text: "age<", about: "created less than so long ago: 2h" },
  { text: "age>", about: "created more than so long ago" },
  { text: "payload.", about: "a value of its payload: payload.user.id:42" },
  { text: "result.", about: "a value of its result" },
  { text: "tag:", about: "a tag" },
  { text: "key:", about: "its unique key" },
  { text: "worker:", about: "worker of the last attempt" },
  { text: "outcome:", about: "how the last attempt ended" },
  { text: "failure:", about: "a group of failures" },
  { text: "schedule:", about: "the schedule that made it" },
  { text: "reason~", about: "why it died or was cancelled" },
  { text: "attempt>=", about: "so many attempts or more" },
  { text: "priority>", about: "larger than" },
  { text: "ran>", about: "its last attempt ran longer than: 5s" },
  { text: "wait>", about: "it waited longer than" },
  { text: "created>=", about: "created at or after: 2026-11-15" },
  { text: "finished>=", about: "ended at or after" },
  { text: "run_at<", about: "due before" },
  { text: "threads>", about: "wants more threads than" },
  { text: "max_attempts:", about: "attempts allowed" },
  { text: "id:", about: "its id" },
];

/** Values that are known, by field. */
export type Known = Readonly<Record<string, readonly string[]>>;

const FIXED: Known = {
  state: STATES,
  outcome: ["ok", "error", "timeout", "lost", "released", "cancelled"],
  age: ["15m", "1h", "2h", "24h", "7d"],
  ran: ["1s", "10s", "1m", "10m"],
  wait: ["1s", "10s", "1m", "10m"],
};

export interface Completion {
  /** The part that a suggestion stands in for. */
  from: number;
  to: number;
  options: readonly Suggestion[];
}

const MOST = 8;

/** What could stand where the caret is: a field, then one of its values. */
export function complete(text: string, caret: number, known: Known): Completion | undefined {
  const term = termsOf(text).find((each) => caret >= each.from && caret <= each.to);
  const start = term ? term.from + (term.negated ? 1 : 0) : caret;
  const typed = text.slice(start, caret);
  if (typed.includes("(") || typed.startsWith('"')) return undefined;
  const value = /^([a-z_]+)(?::|<=?|>=?|~)((?:[^,"]*,)*)([^,"]*)$/.exec(typed);
  const to = term ? term.to : caret;
  if (value) {
    const [, field = "", , part = ""] = value;
    const options = [...(FIXED[field] ?? []), ...(known[field] ?? [])]
      .filter((option) => option !== part && option.toLowerCase().includes(part.toLowerCase()))
      .sort((a, b) => Number(b.startsWith(part)) - Number(a.startsWith(part)))
      .slice(0, MOST)
      .map((option) => ({ text: quote(option), about: "" }));
    return options.length > 0 ? { from: caret - part.length, to, options } : undefined;
  }
  if (/[:<>~=]/.test(typed)) return undefined;
  const paths = (known["paths"] ?? []).map((path) => ({ text: `${path}:`, about: "seen in payloads" }));
  const all = typed.includes(".") ? paths : FIELDS;
  const options = all.filter((option) => option.text.startsWith(typed) && option.text !== typed).slice(0, MOST);
  return options.length > 0 && (typed !== "" || text.slice(0, caret).trim() === "" || text.charAt(caret - 1) === " ") ? { from: start, to, options } : undefined;
}

/** Puts a suggestion in its place. A value is followed by a space, a field by its value. */
export function accept(text: string, completion: Completion, option: Suggestion): { text: string; caret: number } {
  const whole = /[:<>=~.]$/.test(option.text) ? option.text : `${option.text} `;
  const after = text.slice(completion.to).replace(/^ /, "");
  return { text: text.slice(0, completion.from) + whole + after, caret: completion.from + whole.length };
}

/** Paths of plain values in these payloads, the most frequent first. */
export function pathsOf(payloads: readonly unknown[], root = "payload"): string[] {
  const seen = new Map<string, number>();
  const walk = (value: unknown, path: string, depth: number) => {
    if (value !== null && typeof value === "object") {
      if (depth >= 5 || Array.isArray(value)) return;
      for (const [key, child] of Object.entries(value).slice(0, 40)) {
        if (/^[\w-]+$/.test(key)) walk(child, `${path}.${key}`, depth + 1);
      }
    } else if (path !== root) {
      seen.set(path, (seen.get(path) ?? 0) + 1);
    }
  };
  for (const payload of payloads) walk(payload, root, 0);
  return [...seen].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])).map(([path]) => path);
}

/** A filter with the time range of the page: jobs that were created in it. Without a range it is the filter alone. */
export function inRange(filter: string, range: { text: string; from: number; to: number; moving: boolean } | undefined): string {
  if (!range) return filter;
  const iso = (at: number) => new Date(at).toISOString().replace(".000Z", "Z");
  const within = range.moving ? `age<${range.text}` : `created>=${iso(range.from)} created<${iso(range.to)}`;
  if (filter.trim() === "") return within;
  return isPlain(termsOf(filter)) ? `${filter} ${within}` : `(${filter}) ${within}`;
}
