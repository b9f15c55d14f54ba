/** The lines of a log, and which of them are shown. Pure. */

/** How far from the end is still the end: half a line. */
const NEAR_PX = 12;

/** The lines of a text; what ends with a line break has no empty line after it. */
export function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

/** Lines with this in them, whatever the case. */
export function found(lines: readonly string[], find: string): readonly string[] {
  const wanted = find.toLowerCase();
  return wanted === "" ? lines : lines.filter((line) => line.toLowerCase().includes(wanted));
}

/** Whether the reader is at the end, and so wants to see what comes. */
export function isAtEnd({ scrollTop, clientHeight, scrollHeight }: { scrollTop: number; clientHeight: number; scrollHeight: number }): boolean {
  return scrollTop + clientHeight >= scrollHeight - NEAR_PX;
}

export interface LinePart {
  /** Where in the line it begins. */
  at: number;
  text: string;
  href: string | undefined;
}

/** The parts of a line; those that are addresses of the web have one. Nothing else is made a link. */
export function linksOf(line: string): LinePart[] {
  const parts: LinePart[] = [];
  let at = 0;
  for (const match of line.matchAll(/https?:\/\/[^\s<>"'`]+/g)) {
    // What ends a sentence or a parenthesis does not belong to the address.
    const text = match[0].replace(/[.,;:!?)\]}]+$/, "");
    if (match.index > at) parts.push({ at, text: line.slice(at, match.index), href: undefined });
    parts.push({ at: match.index, text, href: text });
    at = match.index + text.length;
  }
  if (at < line.length || parts.length === 0) parts.push({ at, text: line.slice(at), href: undefined });
  return parts;
}
