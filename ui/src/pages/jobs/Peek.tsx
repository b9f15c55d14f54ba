/**
 * A peek at a payload, without leaving the list.
 *
 * The pointer rests on a row for a moment, or Space is pressed on it. With the keyboard it follows from row to row. It goes away
 * with the pointer, with Escape or Space, when the list scrolls away from under it, and when the job is opened. It can be pointed at itself.
 */
import { useQuery } from "@tanstack/react-query";
import { type FocusEvent, type KeyboardEvent, type PointerEvent, useCallback, useEffect, useId, useMemo, useRef, useState } from "react";
import { Problem } from "@/api/problem";
import { payload, useMay } from "@/api/queries";
import type { Job } from "@/api/types";
import { formatBytes } from "@/design";
import { announce } from "@/shell/announce";
import { type Anchor, glance, GRACE_MS, HOLD_MS, place } from "./glance";

interface Peeked {
  id: string;
  at: Anchor;
  by: "pointer" | "key";
}

/** Where the keyboard's peek begins, beside the state and the kind of its row. */
const KEY_INDENT = 240;

const rowOf = (target: EventTarget | null): HTMLElement | null => (target instanceof Element ? target.closest<HTMLElement>("[data-row-id]") : null);

function anchor(row: HTMLElement, left?: number): Anchor {
  const box = row.getBoundingClientRect();
  return { left: left ?? box.left + KEY_INDENT, top: box.top, bottom: box.bottom };
}

/** What the table of jobs needs to be peeked at: events of its grid, a key, and the card to be drawn beside it. */
export function usePeek(rows: readonly Job[], openId: string | undefined) {
  const [peeked, setPeeked] = useState<Peeked>();
  const [openedBefore, setOpenedBefore] = useState(openId);
  if (openedBefore !== openId) {
    // Whoever opens a job sees the payload there.
    setOpenedBefore(openId);
    if (openId !== undefined) setPeeked(undefined);
  }
  const hold = useRef<ReturnType<typeof setTimeout>>(undefined);
  const leave = useRef<ReturnType<typeof setTimeout>>(undefined);
  const latest = useRef({ peeked, openId });
  useEffect(() => {
    latest.current = { peeked, openId };
  });
  const stay = useCallback(() => clearTimeout(leave.current), []);
  const close = useCallback(() => {
    clearTimeout(hold.current);
    clearTimeout(leave.current);
    setPeeked(undefined);
  }, []);
  const away = useCallback(() => {
    clearTimeout(hold.current);
    clearTimeout(leave.current);
    leave.current = setTimeout(() => setPeeked((now) => (now?.by === "pointer" ? undefined : now)), GRACE_MS);
  }, []);
  useEffect(() => close, [close]);

  const isOpen = peeked !== undefined;
  useEffect(() => {
    if (!isOpen) return;
    const onKey = (event: globalThis.KeyboardEvent) => {
      if (event.key !== "Escape") return;
      // It closes this, and nothing behind it.
      event.preventDefault();
      event.stopPropagation();
      close();
    };
    addEventListener("keydown", onKey, true);
    return () => removeEventListener("keydown", onKey, true);
  }, [isOpen, close]);

  const on = useMemo(
    () => ({
      onPointerMove: (event: PointerEvent) => {
        const row = event.pointerType === "mouse" && event.buttons === 0 ? rowOf(event.target) : null;
        const id = row?.dataset["rowId"];
        const { peeked: now, openId: opened } = latest.current;
        if (now?.by === "key") return;
        if (row === null || id === undefined) return away();
        if (now?.id === id) return stay();
        away();
        if (id === opened) return;
        const left = event.clientX + 12;
        hold.current = setTimeout(() => {
          stay();
          // Rows move under a pointer that rests; the one that is there now is meant.
          if (row.isConnected && row.matches(":hover") && latest.current.openId !== id) setPeeked({ id, at: anchor(row, left), by: "pointer" });
        }, HOLD_MS);
      },
      onPointerLeave: away,
      onPointerDown: close,
      onWheel: close,
      onScroll: () => {
        if (latest.current.peeked?.by === "pointer") close();
      },
      onFocus: (event: FocusEvent) => {
        const row = rowOf(event.target);
        const id = row?.dataset["rowId"];
        if (row && id !== undefined) setPeeked((now) => (now?.by === "key" && now.id !== id ? { id, at: anchor(row), by: "key" } : now));
      },
      onBlur: (event: FocusEvent) => {
        if (event.relatedTarget && !event.currentTarget.contains(event.relatedTarget as Element) && latest.current.peeked?.by === "key") close();
      },
    }),
    [away, stay, close],
  );

  /** Space on a row; whether the key was taken. */
  const onKey = (event: KeyboardEvent, job: Job): boolean => {
    const row = event.target instanceof HTMLElement && event.target.getAttribute("role") === "row" ? event.target : null;
    if (event.key !== " " || row === null) return false;
    event.preventDefault();
    if (peeked?.id === job.id) close();
    else setPeeked({ id: job.id, at: anchor(row), by: "key" });
    return true;
  };

  const by = useId();
  const job = peeked && rows.find((each) => each.id === peeked.id);
  return {
    on,
    onKey,
    described: job ? { row: job.id, by } : undefined,
    card: peeked && job ? <PeekCard key={job.id} id={by} job={job} at={peeked.at} aloud={peeked.by === "key"} onPointerEnter={stay} onPointerLeave={away} /> : null,
  };
}

interface CardProps {
  id: string;
  job: Job;
  at: Anchor;
  /** Said to screen readers too: nobody sees where the focus does not go. */
  aloud: boolean;
  onPointerEnter: () => void;
  onPointerLeave: () => void;
}

export function PeekCard({ id, job, at, aloud, onPointerEnter, onPointerLeave }: CardProps) {
  const allowed = useMay("read_payload", job.queue);
  // Nobody looks at a payload that is not there yet and has been left: leaving ends the request.
  const query = useQuery({ ...payload(job.id), enabled: allowed, retry: false });
  const shown = useMemo(() => (query.data === undefined ? undefined : glance(query.data)), [query.data]);
  const problem = query.error ? Problem.from(query.error) : undefined;
  const refused = !allowed || problem?.status === 403;
  const said = refused
    ? "You may not read payloads. That needs the permission “read_payload”; anybody with the permission “admin” can give another role."
    : problem
      ? `The payload could not be read: ${problem.detail}`
      : shown === undefined
        ? undefined
        : shown.text === ""
          ? "This job has no payload."
          : undefined;
  const spoken = said ?? shown?.text;
  useEffect(() => {
    if (aloud && spoken !== undefined) announce(`Payload of ${job.kind}: ${spoken}`);
  }, [aloud, spoken, job.kind]);
  return (
    <div
      id={id}
      role="tooltip"
      className="appearing fixed z-30 flex flex-col overflow-hidden rounded border border-line-strong bg-raised text-12"
      style={place(at, { width: innerWidth, height: innerHeight })}
      onPointerEnter={onPointerEnter}
      onPointerLeave={onPointerLeave}
    >
      <div className="flex shrink-0 items-center gap-2 border-b border-line px-3 py-1.5 text-muted">
        <span className="truncate">
          Payload of <span className="text-text">{job.kind}</span>
        </span>
        {query.data === undefined || refused ? null : <span className="ml-auto whitespace-nowrap">{formatBytes(new TextEncoder().encode(query.data).length)}</span>}
      </div>
      {said === undefined ? (
        shown === undefined ? (
          <p className="px-3 py-2 text-muted">Reading…</p>
        ) : (
          <pre className="min-h-0 overflow-hidden px-3 py-2 break-all whitespace-pre-wrap">{shown.text}</pre>
        )
      ) : (
        <p className="px-3 py-2">{said}</p>
      )}
      {shown?.rest && said === undefined ? <p className="shrink-0 border-t border-line px-3 py-1.5 text-muted">{shown.rest}. Open the job to see all of it.</p> : null}
    </div>
  );
}
