/** A small line without axes, for tables and tiles. What it shows is told in words beside it. */
export function Sparkline({ values, width = 96, height = 24, label, className = "stroke-accent" }: { values: readonly (number | null)[]; width?: number; height?: number; label: string; className?: string }) {
  const known = values.filter((value) => value !== null);
  const top = Math.max(1e-9, ...known);
  const step = values.length > 1 ? (width - 2) / (values.length - 1) : 0;
  // A gap lifts the pen: missing data is never a line to zero.
  let pen = "M";
  let path = "";
  for (const [index, value] of values.entries()) {
    if (value === null) {
      pen = "M";
      continue;
    }
    path += `${pen}${(1 + index * step).toFixed(1)} ${(height - 1.5 - (value / top) * (height - 3)).toFixed(1)}`;
    pen = "L";
  }
  return (
    <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label} className="shrink-0 overflow-visible">
      <path d={`M1 ${height - 1}H${width - 1}`} className="stroke-line" strokeWidth="1" fill="none" />
      <path d={path} fill="none" strokeWidth="1.5" strokeLinejoin="round" strokeLinecap="round" className={className} />
    </svg>
  );
}
