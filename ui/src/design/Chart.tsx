/**
 * Figures over time, drawn by uPlot, which is loaded with the first chart.
 *
 * The crosshair is one for all charts of a page; dragging chooses the time range of the page, a double click gives it back.
 * Missing data is a hatched gap. Everything is there as a table too.
 */
import { Table2, TrendingUp } from "lucide-react";
import { useEffect, useId, useMemo, useRef, useState } from "react";
import type uPlot from "uplot";
import { useSettings, useTheme } from "@/settings/settings";
import { Button } from "./Button";
import { axisLabels, labelSpace, momentLabel } from "./axis";
import { formatAbsolute, UNKNOWN, zoneName } from "./format";
import { drawMarks, type Mark, within } from "./marks";
import { lonely } from "./points";
import "uplot/dist/uPlot.min.css";

export interface Series {
  label: string;
  /** Name of a token: `succeeded`, `accent`, … */
  colour: string;
  values: readonly (number | null)[];
  kind?: "line" | "area" | "step";
  dashed?: boolean;
}

interface Props {
  title: string;
  /** Seconds since 1970, rising. */
  times: readonly number[];
  /** What failed comes last, so that it is drawn on top. */
  series: readonly Series[];
  format: (value: number | null | undefined) => string;
  height?: number;
  /** It counts things: there is nothing between one and two of them. */
  whole?: boolean;
  /** Shades the area where one series is above another, by their places: a gap that means something. */
  bands?: readonly { upper: number; lower: number; colour: string }[];
  /** Things that happened meanwhile. */
  marks?: readonly Mark[];
  /** Charts of one page with the same key share the crosshair. */
  syncKey?: string;
  onZoom?: (from: number, to: number) => void;
  onReset?: () => void;
}

/** More series than this are told in a table only, not in the legend. */
const MOST_IN_LEGEND = 4;

export function Chart(props: Props) {
  const { title, times, series, format } = props;
  const [asTable, setAsTable] = useState(false);
  const [at, setAt] = useState<number | null>(null);
  const id = useId();
  const shownAt = at ?? times.length - 1;
  // Another theme has other colours, and a canvas does not take them by itself.
  const theme = useTheme();
  const { zone } = useSettings();
  return (
    <figure aria-labelledby={id} className="m-0 min-w-0">
      <figcaption className="flex min-h-7 flex-wrap items-center gap-x-4 text-12 text-muted">
        <span id={id} className="sr-only">
          {title}
        </span>
        {series.length <= MOST_IN_LEGEND
          ? series.map((each) => (
              <span key={each.label} className="inline-flex items-center gap-1.5">
                <Swatch colour={each.colour} dashed={each.dashed ?? false} />
                {each.label}
                <span className="text-text">{format(each.values[shownAt])}</span>
              </span>
            ))
          : null}
        <span className="ml-auto">{at === null ? "" : momentLabel(times, at, zone)}</span>
        <Button small look="quiet" aria-pressed={asTable} icon={asTable ? <TrendingUp size={13} /> : <Table2 size={13} />} aria-label={asTable ? `View ${title} as chart` : `View ${title} as table`} onClick={() => setAsTable(!asTable)} />
      </figcaption>
      {asTable ? <Twin {...props} /> : <Canvas key={theme} {...props} onHover={setAt} />}
      <Happened marks={props.marks ?? []} times={times} hidden={!asTable} />
    </figure>
  );
}

function Swatch({ colour, dashed }: { colour: string; dashed: boolean }) {
  return (
    <svg width="14" height="4" aria-hidden="true">
      <path d="M0 2h14" strokeWidth="2.5" strokeDasharray={dashed ? "4 2" : undefined} style={{ stroke: `var(--${colour})` }} />
    </svg>
  );
}

/** What happened meanwhile, in words: under the table for everybody, under the chart for those who hear it. */
function Happened({ marks, times, hidden }: { marks: readonly Mark[]; times: readonly number[]; hidden: boolean }) {
  const { zone } = useSettings();
  const shown = within(marks, times[0] ?? 0, times.at(-1) ?? 0);
  if (shown.length === 0) return null;
  return (
    <ul aria-label="What happened meanwhile" className={hidden ? "sr-only" : "flex flex-wrap gap-x-4 pt-2 text-12 text-muted"}>
      {shown.map(({ at, label }) => (
        <li key={`${at} ${label}`}>
          {formatAbsolute(at * 1000, zone)} <span className="text-text">{label}</span>
        </li>
      ))}
    </ul>
  );
}

/** The same figures as a table, the latest first. */
function Twin({ title, times, series, format, height = 180 }: Props) {
  const { zone } = useSettings();
  return (
    <div className="overflow-auto" style={{ maxHeight: height }} tabIndex={0} role="region" aria-label={`${title}, table`}>
      <table className="w-full text-12">
        <caption className="sr-only">{title}</caption>
        <thead className="sticky top-0 bg-surface text-left text-muted">
          <tr>
            <th className="py-1 pr-4 font-medium">Time ({zoneName(zone)})</th>
            {series.map((each) => (
              <th key={each.label} className="py-1 pr-4 text-right font-medium">
                {each.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {times
            .map((time, index) => (
              <tr key={time} className="border-t border-line">
                <td className="py-1 pr-4">{formatAbsolute(time * 1000, zone)}</td>
                {series.map((each) => (
                  <td key={each.label} className="py-1 pr-4 text-right">
                    {each.values[index] === null ? UNKNOWN : format(each.values[index])}
                  </td>
                ))}
              </tr>
            ))
            .reverse()}
        </tbody>
      </table>
    </div>
  );
}

function Canvas({ title, times, series, format, height = 180, bands, marks, whole = false, syncKey = "page", onZoom, onReset, onHover }: Props & { onHover: (index: number | null) => void }) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const { zone } = useSettings();
  const handlers = useRef({ onZoom, onReset, onHover, format, marks });
  useEffect(() => {
    handlers.current = { onZoom, onReset, onHover, format, marks };
  });
  useEffect(() => {
    if (marks) plot.current?.redraw(false);
  }, [marks]);
  const data = useMemo(() => [times, ...series.map((each) => each.values)] as unknown as uPlot.AlignedData, [times, series]);
  const latest = useRef(data);
  useEffect(() => {
    latest.current = data;
    plot.current?.setData(data);
  }, [data]);
  // The chart is made anew only when its looks change; figures flow into the one that is there.
  const look = JSON.stringify(series.map(({ label, colour, kind, dashed }) => [label, colour, kind, dashed]));
  const bandLook = JSON.stringify(bands ?? []);
  useEffect(() => {
    let gone = false;
    let watcher: ResizeObserver | undefined;
    const make = async () => {
      const { default: UPlot } = await import("uplot");
      const element = box.current;
      if (gone || !element) return;
      const looks = JSON.parse(look) as [string, string, Series["kind"], boolean | undefined][];
      const options = optionsOf(UPlot, element, { looks, bands: JSON.parse(bandLook) as NonNullable<Props["bands"]>, height, whole, syncKey, zone, handlersOf: () => handlers.current });
      plot.current = new UPlot(options, latest.current, element);
      watcher = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height }));
      watcher.observe(element);
    };
    void make();
    return () => {
      gone = true;
      watcher?.disconnect();
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [look, bandLook, height, whole, syncKey, zone]);
  return <div ref={box} role="img" aria-label={`${title}, chart. Use View as table for the figures.`} style={{ height }} />;
}

interface Making {
  looks: [string, string, Series["kind"], boolean | undefined][];
  bands: NonNullable<Props["bands"]>;
  height: number;
  whole: boolean;
  syncKey: string;
  zone: string;
  handlersOf: () => {
    onZoom: Props["onZoom"] | undefined;
    onReset: Props["onReset"] | undefined;
    onHover: (index: number | null) => void;
    format: Props["format"];
    marks: Props["marks"];
  };
}

const WHOLE = Array.from({ length: 10 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat();

function optionsOf(UPlot: typeof uPlot, element: HTMLElement, making: Making): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const token = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const { handlersOf, zone } = making;
  const stepped = UPlot.paths.stepped?.({ align: 1 });
  const axis = { stroke: token("muted"), font: "12px Inter, sans-serif", ticks: { stroke: token("border"), width: 1 }, grid: { stroke: token("border"), width: 1 } };
  const series = making.looks.map(([label, colour, kind, dashed]): uPlot.Series => {
    const stroke = token(colour);
    return {
      label,
      stroke,
      width: 1.5,
      // A line begins with its second point: one that stands alone is a dot.
      points: { show: false, filter: (plot, at) => lonely(plot.data[at] ?? []), size: 5, fill: stroke, stroke },
      spanGaps: false,
      ...(kind === "area" || kind === "step" ? { fill: `${stroke}22` } : {}),
      ...(kind === "step" && stepped ? { paths: stepped } : {}),
      ...(dashed ? { dash: [4, 3] } : {}),
    };
  });
  return {
    width: element.clientWidth,
    height: making.height,
    // Days begin where they begin in the zone that is shown.
    ...(zone === "local" ? {} : { tzDate: (at: number) => UPlot.tzDate(new Date(at * 1000), zone) }),
    legend: { show: false },
    cursor: {
      sync: { key: making.syncKey },
      drag: { x: handlersOf().onZoom !== undefined, y: false, setScale: false },
      points: { size: 6 },
      bind: {
        dblclick: () => () => {
          handlersOf().onReset?.();
          return null;
        },
      },
    },
    scales: { y: { range: (_, __, max) => [0, max > 0 ? max * 1.08 : 1] } },
    axes: [
      { ...axis, grid: { show: false }, size: 28, space: (_, __, min, max, width) => labelSpace(max - min, width), values: (_, splits) => axisLabels(splits, zone) },
      { ...axis, size: 64, ...(making.whole ? { incrs: WHOLE } : {}), values: (_, splits) => splits.map((value) => handlersOf().format(value)) },
    ],
    series: [{}, ...series],
    bands: making.bands.map(({ upper, lower, colour }) => ({ series: [upper + 1, lower + 1], fill: `${token(colour)}33` })),
    hooks: {
      setCursor: [(plot) => handlersOf().onHover(plot.cursor.idx ?? null)],
      setSelect: [
        (plot) => {
          if (plot.select.width < 4) return;
          const from = plot.posToVal(plot.select.left, "x");
          const to = plot.posToVal(plot.select.left + plot.select.width, "x");
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          handlersOf().onZoom?.(from, to);
        },
      ],
      drawClear: [(plot) => hatchGaps(plot, token("border-strong"))],
      draw: [(plot) => drawMarks(plot, handlersOf().marks ?? [], token("muted"))],
    },
  };
}

/** Diagonal lines where no series has a figure. */
function hatchGaps(plot: uPlot, colour: string): void {
  const [times, ...rest] = plot.data;
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1;
  for (let start = 0; start < times.length; start += 1) {
    const missing = (index: number) => index < times.length && rest.every((values) => values[index] == null);
    if (!missing(start)) continue;
    let end = start;
    while (missing(end + 1)) end += 1;
    const left = plot.valToPos(times[Math.max(0, start - 1)] ?? 0, "x", true);
    const right = plot.valToPos(times[Math.min(times.length - 1, end + 1)] ?? 0, "x", true);
    ctx.beginPath();
    ctx.rect(left, bbox.top, right - left, bbox.height);
    ctx.save();
    ctx.clip();
    ctx.beginPath();
    for (let x = left - bbox.height; x < right; x += 8) {
      ctx.moveTo(x, bbox.top + bbox.height);
      ctx.lineTo(x + bbox.height, bbox.top);
    }
    ctx.stroke();
    ctx.restore();
    start = end;
  }
  ctx.restore();
}
