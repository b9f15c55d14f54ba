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
