/**
 * Reads JSON without changing it: numbers stay the text they were, so that 9007199254740993 is not 9007199254740992, and
 * the order and the doubles of keys are kept.
 */

export type Node =
  | { type: "object"; entries: { key: string; value: Node }[] }
  | { type: "array"; items: Node[] }
  | { type: "string"; value: string }
  | { type: "number"; text: string }
  | { type: "literal"; text: "true" | "false" | "null" };

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// oxlint-disable-next-line no-control-regex -- JSON forbids them in strings, and so do we
const STRING = /"(?:[^"\\\u0000-\u001f]|\\.)*"/y;
const SPACE = /[ \t\n\r]*/y;
/** The server refuses deeper payloads. */
const DEEPEST = 256;

/** The tree of a JSON text; throws a `SyntaxError` that says where it stops making sense. */
export function parseJson(text: string): Node {
  let at = 0;

  const fail = (): never => {
    throw new SyntaxError(`not JSON at character ${at + 1}`);
  };
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };
  const take = (character: string): boolean => {
    match(SPACE);
    if (text[at] !== character) return false;
    at += 1;
    return true;
  };
  const string = (): string => {
    const found = match(STRING);
    return found === undefined ? fail() : (JSON.parse(found) as string);
  };

  const value = (depth: number): Node => {
    if (depth > DEEPEST) fail();
    if (take("{")) return object(depth);
    if (take("[")) return array(depth);
    if (text[at] === '"') return { type: "string", value: string() };
    for (const literal of ["true", "false", "null"] as const) {
      if (text.startsWith(literal, at)) {
        at += literal.length;
        return { type: "literal", text: literal };
      }
    }
    const number = match(NUMBER);
    return number === undefined ? fail() : { type: "number", text: number };
  };
  const object = (depth: number): Node => {
    const entries: { key: string; value: Node }[] = [];
    if (take("}")) return { type: "object", entries };
    do {
      match(SPACE);
      const key = string();
      if (!take(":")) fail();
      entries.push({ key, value: value(depth + 1) });
    } while (take(","));
    return take("}") ? { type: "object", entries } : fail();
  };
  const array = (depth: number): Node => {
    const items: Node[] = [];
    if (take("]")) return { type: "array", items };
    do items.push(value(depth + 1));
    while (take(","));
    return take("]") ? { type: "array", items } : fail();
  };

  const root = value(0);
  match(SPACE);
  return at === text.length ? root : fail();
}

/** The same text with line breaks, every number as it was. */
export function prettyJson(node: Node, indent = ""): string {
  const inner = `${indent}  `;
  switch (node.type) {
    case "object": {
      if (node.entries.length === 0) return "{}";
      const lines = node.entries.map((entry) => `${inner}${JSON.stringify(entry.key)}: ${prettyJson(entry.value, inner)}`);
      return `{\n${lines.join(",\n")}\n${indent}}`;
    }
    case "array": {
      if (node.items.length === 0) return "[]";
      return `[\n${node.items.map((item) => inner + prettyJson(item, inner)).join(",\n")}\n${indent}]`;
    }
    case "string":
      return JSON.stringify(node.value);
    case "number":
    case "literal":
      return node.text;
  }
}

/** What the server writes in place of a secret. */
export const REDACTED = "[redacted]";

/** How a value is asked for in the filter language: `payload.user.plan`. */
export function filterPath(root: string, steps: readonly string[]): string {
  return [root, ...steps].join(".");
}
