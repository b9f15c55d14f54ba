/** How the failures of a group went over a range, as a small line. */
import { formatExact, Sparkline, UNKNOWN } from "@/design";
import { drawn, type Lately } from "./groups";

export function Trend({ did, width }: { did: Lately | undefined; width: number }) {
  if (!did) return <span className="text-muted">{UNKNOWN}</span>;
  const most = Math.max(0, ...did.trend);
  return <Sparkline width={width} height={20} className="stroke-dead" values={drawn(did.trend)} label={`${formatExact(did.count)} failed attempts, at most ${formatExact(most)} in a step`} />;
}
