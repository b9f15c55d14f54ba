/** Things that happened, on a chart: a dashed line at their moment, and their name where there is room for it. */
import type uPlot from "uplot";

export interface Mark {
  /** Seconds since 1970. */
  at: number;
  /** "mail paused". */
  label: string;
}

const GAP_PX = 6;
const LINE_PX = 14;
const MOST_LETTERS = 32;

/** Which labels can be written without lying over each other: each begins at its line. Pure. */
export function roomFor(lines: readonly { left: number; width: number }[], end: number): boolean[] {
  let free = Number.NEGATIVE_INFINITY;
  return lines.map(({ left, width }) => {
    const fits = left >= free && left + width <= end;
    if (fits) free = left + width + GAP_PX;
    return fits;
  });
}

/** Those within a stretch of time, in order. */
export const within = (marks: readonly Mark[], from: number, to: number): Mark[] => marks.filter(({ at }) => at >= from && at <= to).toSorted((a, b) => a.at - b.at);

export function drawMarks(plot: uPlot, marks: readonly Mark[], colour: string): void {
  const times = plot.data[0];
  const shown = within(marks, times[0] ?? 0, times.at(-1) ?? 0);
  if (shown.length === 0) return;
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.fillStyle = colour;
  ctx.lineWidth = ratio;
  ctx.font = `${12 * ratio}px Inter, sans-serif`;
  ctx.textBaseline = "top";
  ctx.textAlign = "left";
  const lines = shown.map(({ at, label }) => {
    const text = label.length > MOST_LETTERS ? `${label.slice(0, MOST_LETTERS)}…` : label;
    return { text, left: plot.valToPos(at, "x", true), width: ctx.measureText(text).width + GAP_PX * ratio };
  });
  const fits = roomFor(lines, bbox.left + bbox.width);
  for (const [index, { text, left }] of lines.entries()) {
    ctx.setLineDash([3 * ratio, 3 * ratio]);
    ctx.beginPath();
    ctx.moveTo(left, bbox.top);
    ctx.lineTo(left, bbox.top + bbox.height);
    ctx.stroke();
    if (fits[index]) ctx.fillText(text, left + 4 * ratio, bbox.top - LINE_PX * 0.2 * ratio);
  }
  ctx.restore();
}
