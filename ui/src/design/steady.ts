/**
 * Lists that are in the order of something that changes, such as the worst first.
 *
 * Under a pointer or the keyboard's focus nothing moves: rows change in place, new ones come at the end, and the right order is taken up
 * again when the list is left. Whoever presses a button presses the one he saw.
 */
import { type FocusEvent, useState } from "react";

/** These rows in an order that was, as far as it knows them. */
export function inOrderOf<R>(rows: readonly R[], order: readonly string[], idOf: (row: R) => string): R[] {
  const place = new Map(order.map((id, index) => [id, index]));
  const at = (row: R) => place.get(idOf(row)) ?? order.length;
  return rows.toSorted((a, b) => at(a) - at(b));
}

/** The rows to be shown, and what the element around them has to listen to. Another `chosen` order is taken up at once: somebody asked for it. */
export function useSteady<R>(rows: readonly R[], idOf: (row: R) => string, on = true, chosen = "") {
  const [held, setOrder] = useState<readonly string[]>();
  const [taken, setTaken] = useState(chosen);
  const order = held && taken !== chosen ? rows.map(idOf) : held;
  if (taken !== chosen) {
    setTaken(chosen);
    setOrder(order);
  }
  const [by, setBy] = useState({ pointer: false, focus: false });
  const shown = order ? inOrderOf(rows, order, idOf) : rows;
  const change = (to: Partial<typeof by>) => {
    const next = { ...by, ...to };
    if (next.pointer === by.pointer && next.focus === by.focus) return;
    setBy(next);
    if (!next.pointer && !next.focus) setOrder(undefined);
    else if (!order) setOrder(rows.map(idOf));
  };
  const hold = {
    onPointerEnter: () => change({ pointer: true }),
    onPointerLeave: () => change({ pointer: false }),
    // A click leaves the focus behind: only somebody with a keyboard is still there.
    onFocus: (event: FocusEvent) => change({ focus: event.target.matches(":focus-visible") }),
    onBlur: (event: FocusEvent) => {
      if (!event.currentTarget.contains(event.relatedTarget as Element | null)) change({ focus: false });
    },
  };
  return { rows: shown, hold: on ? hold : {} };
}
