/** What a sentence of the server is made of. Pure. */
export interface Part {
  is: "text" | "code" | "time" | "job";
  text: string;
}

const PATTERN = /`([^`]+)`|(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)|(job_[0-9A-Z]{26})/g;

/** A sentence begins with a capital letter and ends with a full stop. A command does neither: it is typed as it is. */
export function partsOf(text: string): Part[] {
  const parts: Part[] = [];
  let at = 0;
  const plain = (end: number) => {
    if (end > at) parts.push({ is: "text", text: text.slice(at, end) });
  };
  for (const match of text.matchAll(PATTERN)) {
    plain(match.index);
    const [all, code, time, job] = match;
    // An id within a command belongs to the command.
    parts.push(code !== undefined ? { is: "code", text: code } : time !== undefined ? { is: "time", text: time } : { is: "job", text: job ?? all });
    at = match.index + all.length;
  }
  plain(text.length);
  const [first] = parts;
  if (first?.is === "text" && !first.text.startsWith("ganger ")) first.text = first.text.charAt(0).toUpperCase() + first.text.slice(1);
  if (first?.is === "text" && parts.length === 1 && first.text.startsWith("ganger ")) return [{ is: "code", text: first.text }];
  const last = parts.at(-1);
  if (last && last.is !== "code" && !/[.!?)]$/.test(last.text)) parts.push({ is: "text", text: "." });
  return parts;
}
