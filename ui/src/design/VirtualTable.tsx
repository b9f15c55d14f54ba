/**
 * A table that stays fast with any number of rows.
 *
 * Only what is on the screen is in the page, never more than sixty rows. It is one stop of the Tab key (the grid pattern):
 * `j` and `k` or the arrows move, `x` selects, `⇧x` selects a range, `a` all loaded rows, Enter opens, `o` opens the page.
 * The row that was opened gets the focus back when its inspector closes. Below 640 px rows are cards.
 */
import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { type DOMAttributes, type KeyboardEvent, memo, type ReactNode, useCallback, useEffect, useId, useMemo, useRef, useState } from "react";
import { ROW_HEIGHT, useSettings } from "@/settings/settings";
import { useIsNarrow } from "./media";
import { zoneName } from "./format";
import { extend, type Selection, toggle, toggleAll } from "./selection";
import { useSteady } from "./steady";

export interface Column<R> {
  id: string;
  header: ReactNode;
  /** For `grid-template-columns`: `120px`, `minmax(160px,1fr)`. */
  width: string;
  cell: (row: R) => ReactNode;
  align?: "right";
  /** It shows moments: wider, and with the zone in its head, where they are shown as they are. */
  time?: boolean;
  /** Left out of the card that a row becomes on a small screen. */
  notOnCard?: boolean;
  /** On a card it has a line of its own. */
  wholeLine?: boolean;
  /** What rows are sorted by on a click on the head: the largest first, texts from A on. Unknown values come last. */
  sortBy?: (row: R) => number | string | null | undefined;
}

interface Sorting {
  id: string;
  backwards: boolean;
}

/** Rows in the order of a column. Equal ones stay in the order they came in. */
export function sortRows<R>(rows: readonly R[], columns: readonly Column<R>[], sorting: Sorting | undefined): readonly R[] {
  const by = columns.find((column) => column.id === sorting?.id)?.sortBy;
  if (!by || !sorting) return rows;
  const turn = sorting.backwards ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [one, two] = [by(a) ?? undefined, by(b) ?? undefined];
    if (one === undefined || two === undefined) return Number(one === undefined) - Number(two === undefined);
    return turn * (typeof one === "string" || typeof two === "string" ? String(one).localeCompare(String(two)) : two - one);
  });
}

export interface VirtualTableProps<R> {
  /** Says what the rows are: "Jobs". */
  label: string;
  rows: readonly R[];
  rowId: (row: R) => string;
  columns: readonly Column<R>[];
  /** How many rows there are in all, if more than are loaded; -1 if nobody knows. */
  total?: number;
  onOpen?: (row: R) => void;
  onOpenPage?: (row: R) => void;
  /** The row whose inspector is open. */
  openId?: string | undefined;
  selection?: Selection;
  onSelectionChange?: (selection: Selection) => void;
  /** Another value tints the row for a moment: its state, say. */
  tint?: (row: R) => string;
  /** One more line under a row: the most useful one thing about it. */
  secondLine?: (row: R) => ReactNode;
  onEnd?: (() => void) | undefined;
  loadingMore?: boolean;
  /** Ids on the screen, for the live events of just these. */
  onVisible?: (ids: readonly string[]) => void;
  /** Further events of the grid: of the pointer, of scrolling, of the focus. */
  on?: Pick<DOMAttributes<HTMLDivElement>, "onPointerMove" | "onPointerLeave" | "onPointerDown" | "onWheel" | "onScroll" | "onFocus" | "onBlur">;
  /** A row that something on the page tells more about, and the element that does. */
  described?: { row: string; by: string } | undefined;
  /** Further keys on the focused row. */
  onKey?: (event: KeyboardEvent, row: R) => void;
  /** The order of the rows changes by itself: it is held while somebody is at the list. */
  steady?: boolean;
  dimmed?: boolean;
  footer?: ReactNode;
}

/** Never more row elements than this. */
export const MOST_ROWS = 60;
const HEAD = 30;
const SECOND_LINE = 18;
const AT_REST_MS = 120;

export function VirtualTable<R>(props: VirtualTableProps<R>) {
  const { label, rowId, onOpen, openId, selection, onSelectionChange, onEnd, onVisible, footer } = props;
  const [sorting, setSorting] = useState<Sorting>();
  const ordered = useMemo(() => sortRows(props.rows, props.columns, sorting), [props.rows, props.columns, sorting]);
  const { rows, hold } = useSteady(ordered, rowId, props.steady ?? false, sorting ? `${sorting.id} ${sorting.backwards}` : "");
  const { density, absoluteTimes, zone } = useSettings();
  const columns = useMemo(() => (absoluteTimes ? props.columns.map((column) => (column.time ? withZone(column, zone) : column)) : props.columns), [props.columns, absoluteTimes, zone]);
  const narrow = useIsNarrow();
  const scroller = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState<string>();
  const wantFocus = useRef(false);
  const tableId = useId();
  const onCard = columns.filter((column) => !column.notOnCard);
  const whole = onCard.filter((column) => column.wholeLine).length;
  const rowHeight = narrow
    ? 20 + (Math.ceil((onCard.length - whole) / 2) + whole) * 22
    : ROW_HEIGHT[density] + (props.secondLine ? SECOND_LINE : 0);

  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => (rows[index] === undefined ? index : rowId(rows[index])),
    overscan: 6,
    scrollPaddingStart: narrow ? 0 : HEAD,
    rangeExtractor: (range) => defaultRangeExtractor(range).slice(0, MOST_ROWS),
  });
  useEffect(() => virtual.measure(), [virtual, rowHeight]);

  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? -1;
  useEffect(() => {
    if (onEnd && last >= rows.length - 10) onEnd();
  }, [onEnd, last, rows.length]);
  const visible = items.flatMap(({ index }) => (rows[index] === undefined ? [] : [rowId(rows[index])])).join(",");
  // Told when the list has come to rest: what only flies by needs no events of its own.
  useEffect(() => {
    const timer = setTimeout(() => onVisible?.(visible.split(",").filter(Boolean)), AT_REST_MS);
    return () => clearTimeout(timer);
  }, [onVisible, visible]);

  const activeIndex = Math.max(0, rows.findIndex((row) => rowId(row) === active));
  // The inspector closed: whoever opened it goes on from the row.
  const wasOpen = useRef(openId);
  useEffect(() => {
    if (wasOpen.current !== undefined && openId === undefined) wantFocus.current = true;
    if (openId !== undefined) setActive(openId);
    wasOpen.current = openId;
  }, [openId]);
  // The row may be drawn only after the list has scrolled to it, so every drawing looks.
  useEffect(() => {
    if (!wantFocus.current) return;
    const element = scroller.current?.querySelector<HTMLElement>('[role="row"][tabindex="0"]');
    if (!element) return;
    element.focus({ preventScroll: true });
    wantFocus.current = false;
  });

  const go = useCallback(
    (index: number) => {
      const row = rows[Math.min(rows.length - 1, Math.max(0, index))];
      if (row === undefined) return;
      setActive(rowId(row));
      wantFocus.current = true;
      virtual.scrollToIndex(Math.min(rows.length - 1, Math.max(0, index)));
    },
    [rows, rowId, virtual],
  );

  // The same function for as long as the table is there: a new one would draw every row again at every step of a scroll.
  const now = useRef({ selection, onSelectionChange, rows, rowId });
  useEffect(() => {
    now.current = { selection, onSelectionChange, rows, rowId };
  });
  const select = useCallback((id: string, range: boolean) => {
    const { selection: before, onSelectionChange: change, rows: all, rowId: idOf } = now.current;
    if (before && change) change(range ? extend(before, id, all.map(idOf)) : toggle(before, id));
  }, []);

  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[activeIndex];
    if (row === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    // Keys of a control inside the row belong to the control.
    const own = event.target instanceof HTMLElement && event.target.getAttribute("role") === "row";
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowHeight) - 2);
    const moves: Record<string, number> = {
      j: activeIndex + 1,
      ArrowDown: activeIndex + 1,
      k: activeIndex - 1,
      ArrowUp: activeIndex - 1,
      PageDown: activeIndex + page,
      PageUp: activeIndex - page,
      Home: 0,
      End: rows.length - 1,
    };
    const to = moves[event.key];
    if (to !== undefined) {
      event.preventDefault();
      go(to);
    } else if (event.key === "Enter" && own) {
      event.preventDefault();
      onOpen?.(row);
    } else if (event.key === "o" && props.onOpenPage) {
      event.preventDefault();
      props.onOpenPage(row);
    } else if (event.key.toLowerCase() === "x" && selection) {
      event.preventDefault();
      select(rowId(row), event.shiftKey);
    } else if (event.key === "a" && selection) {
      event.preventDefault();
      onSelectionChange?.(toggleAll(selection, rows.map(rowId)));
    } else {
      props.onKey?.(event, row);
    }
  };

  const template = [...(selection ? ["32px"] : []), ...columns.map((column) => column.width)].join(" ");
  // The head and the rows are laid out each by itself: only with one width are their columns the same.
  const minWidth = narrow ? undefined : leastWidth(template);
  const all = selection !== undefined && rows.length > 0 && rows.every((row) => selection.ids.has(rowId(row)));
  return (
    <div className="fills flex min-h-0 flex-col" {...hold}>
      <div
        ref={scroller}
        role="grid"
        aria-label={label}
        aria-rowcount={props.total ?? rows.length + 1}
        aria-colcount={columns.length + (selection ? 1 : 0)}
        aria-multiselectable={selection ? true : undefined}
        id={tableId}
        data-scroll-restoration-id={label}
        className={`min-h-0 overflow-auto border-y border-line ${props.dimmed ? "opacity-60" : ""}`}
        style={{ maxHeight: (MOST_ROWS - 12) * rowHeight }}
        onKeyDown={onKeyDown}
        {...props.on}
        tabIndex={rows.length === 0 ? 0 : -1}
      >
        {narrow ? null : (
          <div role="row" aria-rowindex={1} className="sticky top-0 z-10 grid items-center gap-x-5 border-b border-line bg-surface px-3 text-12 font-medium text-muted" style={{ gridTemplateColumns: template, height: HEAD, minWidth }}>
            {selection ? (
              <div role="columnheader" className="flex items-center">
                <input type="checkbox" tabIndex={-1} className="size-4 accent-accent" aria-label="Select all loaded rows" checked={all} onChange={() => onSelectionChange?.(toggleAll(selection, rows.map(rowId)))} />
              </div>
            ) : null}
            {columns.map((column) => {
              const sorted = sorting?.id === column.id ? sorting : undefined;
              const order = !sorted ? "none" : (column.align === "right") === sorted.backwards ? "ascending" : "descending";
              return (
                <div key={column.id} role="columnheader" aria-sort={column.sortBy ? order : undefined} className={`truncate ${column.align === "right" ? "text-right" : ""}`}>
                  {column.sortBy ? (
                    <button type="button" className="max-w-full truncate font-medium hover:text-text" title="Sort by this column" onClick={() => setSorting(sorted?.backwards ? undefined : { id: column.id, backwards: sorted !== undefined })}>
                      {column.header}
                      <span aria-hidden="true">{order === "none" ? "" : order === "ascending" ? " ↑" : " ↓"}</span>
                    </button>
                  ) : (
                    column.header
                  )}
                </div>
              );
            })}
          </div>
        )}
        <div role="rowgroup" className="relative" style={{ height: virtual.getTotalSize(), minWidth }}>
          {items.map((item) => {
            const row = rows[item.index];
            if (row === undefined) return null;
            const id = rowId(row);
            return (
              <Row
                key={id}
                row={row}
                id={id}
                index={item.index}
                start={item.start}
                height={rowHeight}
                template={template}
                columns={columns}
                narrow={narrow}
                focusable={item.index === activeIndex}
                open={id === openId}
                describedBy={props.described?.row === id ? props.described.by : undefined}
                selected={selection?.ids.has(id)}
                tint={props.tint?.(row)}
                second={props.secondLine?.(row)}
                onFocus={setActive}
                onOpen={onOpen}
                onSelect={selection ? select : undefined}
              />
            );
          })}
        </div>
        {props.loadingMore ? (
          <div role="status" className="px-3 py-2 text-12 text-muted">
            Loading more…
          </div>
        ) : null}
      </div>
      {footer ? <div className="flex min-h-8 items-center gap-3 px-3 text-12 text-muted">{footer}</div> : null}
    </div>
  );
}

/** `2026-11-16 14:02:11` needs this much. */
const ABSOLUTE = "140px";

const withZone = <R,>(column: Column<R>, zone: string): Column<R> => ({ ...column, width: ABSOLUTE, header: <span title={zoneName(zone)}>{`${String(column.header)}, ${zoneName(zone)}`}</span> });

/** What columns take at the least, with the gaps between them and the space beside them. */
export function leastWidth(template: string): number {
  const tracks = template.match(/minmax\([^)]*\)|\S+/g) ?? [];
  const widths = tracks.map((track) => Number(/^(?:minmax\()?(\d+)px/.exec(track)?.[1] ?? 0));
  return widths.reduce((sum, width) => sum + width, 0) + (tracks.length - 1) * 20 + 24;
}

interface RowProps<R> {
  row: R;
  id: string;
  index: number;
  start: number;
  height: number;
  template: string;
  columns: readonly Column<R>[];
  narrow: boolean;
  focusable: boolean;
  open: boolean;
  describedBy: string | undefined;
  selected: boolean | undefined;
  tint: string | undefined;
  second: ReactNode;
  onFocus: (id: string) => void;
  onOpen: ((row: R) => void) | undefined;
  onSelect: ((id: string, range: boolean) => void) | undefined;
}

const Row = memo(RowInner) as typeof RowInner;

function RowInner<R>({ row, id, index, start, height, template, columns, narrow, focusable, open, describedBy, selected, tint, second, onFocus, onOpen, onSelect }: RowProps<R>) {
  const element = useRef<HTMLDivElement>(null);
  const before = useRef(tint);
  useEffect(() => {
    if (before.current !== tint) {
      before.current = tint;
      element.current?.classList.remove("tinted");
      // Reading the width makes the browser forget the animation that was, so that it begins again.
      void element.current?.offsetWidth;
      element.current?.classList.add("tinted");
    }
  }, [tint]);
  const look = open ? "bg-accent/12" : selected ? "bg-accent/8" : "hover:bg-surface";
  return (
    // Keys are handled by the grid; a click is the mouse's way to what Enter does.
    <div
      ref={element}
      role="row"
      tabIndex={focusable ? 0 : -1}
      aria-rowindex={index + 2}
      aria-selected={selected}
      aria-describedby={describedBy}
      data-row-id={id}
      className={`absolute top-0 left-0 w-full cursor-default border-b border-line px-3 -outline-offset-2 ${look}`}
      style={{ height, transform: `translateY(${start}px)` }}
      onFocus={() => onFocus(id)}
      onClick={(event) => {
        const control = event.target instanceof Element && event.target.closest("a, button, input");
        if (!control) onOpen?.(row);
      }}
      onKeyDown={undefined}
    >
      {narrow ? (
        <div className="grid grid-cols-2 gap-x-5 gap-y-0.5 py-2.5">
          {columns
            .filter((column) => !column.notOnCard)
            .map((column) => (
              <div key={column.id} role="gridcell" className={`truncate ${column.wholeLine ? "col-span-2" : ""}`}>
                {column.cell(row)}
              </div>
            ))}
        </div>
      ) : (
        <>
          <div className="grid items-center gap-x-5" style={{ gridTemplateColumns: template, height: second === undefined ? height - 1 : height - SECOND_LINE - 2 }}>
            {onSelect ? (
              <div role="gridcell" className="flex items-center">
                <input type="checkbox" tabIndex={-1} className="size-4 accent-accent" aria-label={`Select ${id}`} checked={selected ?? false} onChange={(event) => onSelect(id, (event.nativeEvent as MouseEvent).shiftKey)} />
              </div>
            ) : null}
            {columns.map((column) => (
              <div key={column.id} role="gridcell" className={`truncate ${column.align === "right" ? "text-right" : ""}`}>
                {column.cell(row)}
              </div>
            ))}
          </div>
          {second === undefined ? null : (
            <div role="gridcell" className={`truncate text-12 leading-4 text-muted ${onSelect ? "pl-12" : ""}`}>
              {second}
            </div>
          )}
        </>
      )}
    </div>
  );
}
