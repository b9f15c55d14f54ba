/** What a peek at a payload shows, and where. Pure. */
import { formatExact } from "@/design/format";
import { parseJson, prettyJson } from "@/design/json";

/** The pointer rests this long on a row before it is shown. */
export const HOLD_MS = 300;
/** The pointer may be away this long, on its way from the row to what is shown. */
export const GRACE_MS = 150;
/** Lines that are shown; a long one is wrapped and takes several. */
const MOST_LINES = 16;
const LINE_LETTERS = 56;
/** A larger text is not taken apart for a glance. */
const LARGE = 64 * 1024;

export interface Glance {
  text: string;
  /** What of it is not shown; nothing if all of it is. */
  rest: string | undefined;
}

/** The beginning of a payload, with line breaks and every digit. */
export function glance(payload: string): Glance {
  const lines = pretty(payload).split("\n");
  const shown: string[] = [];
  let room = MOST_LINES;
  for (const line of lines) {
    if (room <= 0) break;
    shown.push(line.slice(0, room * LINE_LETTERS));
    room -= Math.max(1, Math.ceil(line.length / LINE_LETTERS));
  }
  const text = shown.join("\n");
  const more = lines.length - shown.length;
  const cut = (lines[shown.length - 1]?.length ?? 0) - (shown.at(-1)?.length ?? 0);
  if (more > 0) return { text: `${text}…`, rest: `${formatExact(more)} more ${more === 1 ? "line" : "lines"}` };
  return cut > 0 ? { text: `${text}…`, rest: `${formatExact(cut)} more letters` } : { text, rest: undefined };
}

function pretty(payload: string): string {
  if (payload.length > LARGE) return payload;
  try {
    return prettyJson(parseJson(payload));
  } catch {
    return payload;
  }
}

export interface Anchor {
  left: number;
  top: number;
  bottom: number;
}

const WIDTH = 440;
const HEIGHT = 340;
const EDGE = 8;

/** Beside its row, never over it: below if there is room, above if there is more. Within the window. */
export function place(at: Anchor, window: { width: number; height: number }): { left: number; width: number; maxHeight: number; top?: number; bottom?: number } {
  const width = Math.min(WIDTH, window.width - 2 * EDGE);
  const left = Math.max(EDGE, Math.min(at.left, window.width - width - EDGE));
  const below = window.height - at.bottom - EDGE;
  const above = at.top - EDGE;
  if (below >= HEIGHT || below >= above) return { left, width, top: at.bottom, maxHeight: Math.min(HEIGHT, below) };
  return { left, width, bottom: window.height - at.top, maxHeight: Math.min(HEIGHT, above) };
}
