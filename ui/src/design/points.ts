/** Figures that a line cannot show. Pure. */

/** Places of figures that stand alone: without a neighbour there is no line that would show them. */
export function lonely(values: ArrayLike<number | null | undefined>): number[] {
  const known = (at: number) => at >= 0 && at < values.length && values[at] != null;
  return Array.from({ length: values.length }, (_, at) => at).filter((at) => known(at) && !known(at - 1) && !known(at + 1));
}
