/** Which rows of a table are selected: pure, so that ranges can be tested. */

export interface Selection {
  ids: ReadonlySet<string>;
  /** Where a range begins: the row that was last selected alone. */
  anchor: string | undefined;
}

export const NOTHING: Selection = { ids: new Set(), anchor: undefined };

export function toggle(selection: Selection, id: string): Selection {
  const ids = new Set(selection.ids);
  if (!ids.delete(id)) ids.add(id);
  return { ids, anchor: id };
}

/** Everything from the anchor to this row; without an anchor, this row. */
export function extend(selection: Selection, id: string, order: readonly string[]): Selection {
  const to = order.indexOf(id);
  const from = selection.anchor === undefined ? to : order.indexOf(selection.anchor);
  if (to < 0 || from < 0) return toggle(selection, id);
  const ids = new Set(selection.ids);
  for (const each of order.slice(Math.min(from, to), Math.max(from, to) + 1)) ids.add(each);
  return { ids, anchor: selection.anchor ?? id };
}

/** All of these, or none if all of them are selected already. */
export function toggleAll(selection: Selection, order: readonly string[]): Selection {
  const all = order.length > 0 && order.every((id) => selection.ids.has(id));
  return all ? NOTHING : { ids: new Set(order), anchor: selection.anchor };
}
