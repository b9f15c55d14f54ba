/** Matches over time, stacked by state. A click on a bar, or dragging over several, narrows the filter to that time. */
import { type PointerEvent, useRef, useState } from "react";
import { type Histogram as Data, type State, STATES } from "@/api/types";
import { formatAbsolute, formatExact } from "@/design";
import { useSettings } from "@/settings/settings";

const HEIGHT = 44;
/** What failed is drawn last, on top. */
const ORDER: readonly State[] = ["succeeded", "cancelled", "scheduled", "blocked", "queued", "running", "retrying", "dead"];

export function Histogram({ data, onChoose }: { data: Data; onChoose: (from: number, to: number) => void }) {
  const { zone } = useSettings();
  const [drag, setDrag] = useState<{ from: number; to: number }>();
  const [hover, setHover] = useState<number>();
  const frame = useRef<HTMLDivElement>(null);
  const { buckets } = data;
  const most = Math.max(1, ...buckets.map((bucket) => bucket.count));
  const indexAt = (event: PointerEvent) => {
    const box = frame.current?.getBoundingClientRect();
    const share = box ? (event.clientX - box.left) / box.width : 0;
    return Math.min(buckets.length - 1, Math.max(0, Math.floor(share * buckets.length)));
  };
  const startOf = (index: number) => Date.parse(buckets[index]?.at ?? "");
  const shown = hover === undefined ? undefined : buckets[hover];
  const first = buckets[0];
  const low = drag ? Math.min(drag.from, drag.to) : 0;
  const high = drag ? Math.max(drag.from, drag.to) : 0;
  const words = STATES.filter((state) => buckets.some((bucket) => bucket.states[state])).join(", ");
  return (
    <figure className="m-0 pb-3 max-sm:hidden" aria-label="Matches over time">
      <div
        ref={frame}
        className="relative cursor-crosshair touch-none select-none"
        style={{ height: HEIGHT }}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          const at = indexAt(event);
          setDrag({ from: at, to: at });
        }}
        onPointerMove={(event) => {
          const at = indexAt(event);
          setHover(at);
          if (drag) setDrag({ ...drag, to: at });
        }}
        onPointerLeave={() => setHover(undefined)}
        onPointerUp={() => {
          if (drag) onChoose(startOf(low), startOf(high) + data.step_ms);
          setDrag(undefined);
        }}
        onPointerCancel={() => setDrag(undefined)}
      >
        <svg role="img" aria-label={`${formatExact(data.matched)} jobs over time: ${words || "none"}`} viewBox={`0 0 ${buckets.length} ${HEIGHT}`} preserveAspectRatio="none" width="100%" height={HEIGHT} className="block border-b border-line-strong">
          {buckets.map((bucket, index) => (
            <Bar key={bucket.at} index={index} states={bucket.states} scale={(HEIGHT - 4) / most} />
          ))}
          {drag ? <rect x={low} width={high - low + 1} y={0} height={HEIGHT} className="fill-accent" opacity={0.2} /> : null}
        </svg>
      </div>
      <figcaption className="flex h-5 items-center gap-4 pt-1 text-12 text-muted">
        {shown ? (
          <>
            <span>{formatAbsolute(Date.parse(shown.at), zone)}</span>
            <span>{formatExact(shown.count)} jobs</span>
            <span className="truncate">
              {STATES.filter((state) => shown.states[state])
                .map((state) => `${formatExact(shown.states[state])} ${state}`)
                .join(" · ")}
            </span>
          </>
        ) : (
          <>
            <span>{first ? formatAbsolute(Date.parse(first.at), zone) : ""}</span>
            <span className="ml-auto">Created, oldest to now. Drag to filter</span>
          </>
        )}
      </figcaption>
    </figure>
  );
}

function Bar({ index, states, scale }: { index: number; states: Record<string, number>; scale: number }) {
  return (
    <g>
      {stacked(states, scale).map(({ state, top, height }) => (
        <rect key={state} x={index + 0.1} width={0.8} y={top} height={height} style={{ fill: `var(--${state})` }} />
      ))}
    </g>
  );
}

/** One on top of the other, from the ground. However few there are of a state, they can be seen. */
function stacked(states: Record<string, number>, scale: number): { state: State; top: number; height: number }[] {
  let top = HEIGHT;
  return ORDER.filter((state) => states[state]).map((state) => {
    const height = Math.max(1.5, (states[state] ?? 0) * scale);
    top -= height;
    return { state, top, height };
  });
}
