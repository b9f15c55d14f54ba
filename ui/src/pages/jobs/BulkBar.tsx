/** What is selected, and what can be done to it: asked with a preview, done by an operation, watched until it is over. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { operation, useMay } from "@/api/queries";
import { FINAL, type Histogram, type Job, type Operation } from "@/api/types";
import { Button, formatExact, type Selection, toast } from "@/design";
import { useLiveQueries } from "@/live/hooks";
import { type Action, DOING, DONE, jobsOf, MOST_IDS, skippedText, type Target, VERB } from "./bulk";
import { type Asked, BulkDialog } from "./BulkDialog";

interface Props {
  selected: number;
  rows: readonly Job[];
  selection: Selection;
  /** All matches are meant, not only those that are loaded. */
  every: boolean;
  matched: Histogram | undefined;
  onEvery: () => void;
  onClear: () => void;
  onAsk: (action: Action) => void;
}

export function BulkBar({ selected, rows, selection, every, matched, onEvery, onClear, onAsk }: Props) {
  const chosen = rows.filter((row) => selection.ids.has(row.id));
  const ended = every || chosen.some((row) => FINAL.includes(row.state));
  const live = every || chosen.some((row) => !FINAL.includes(row.state));
  const mayReplay = useMay("replay");
  const mayCancel = useMay("cancel");
  const mayDelete = useMay("purge");
  const all = matched ? `${formatExact(matched.matched)}${matched.scan.complete ? "" : "+"}` : "";
  const hasMore = matched === undefined || !matched.scan.complete || matched.matched > selected;
  return (
    <div role="region" aria-label="Selected jobs" className="appearing mb-2 flex min-h-10 flex-wrap items-center gap-2 rounded border border-accent bg-accent/8 px-3 py-1">
      <span className="font-medium">{every ? `All ${all} matching jobs` : `${jobsOf(selected)} selected`}</span>
      {hasMore && !every ? (
        <Button small look="quiet" onClick={onEvery}>
          Select all {all} matching
        </Button>
      ) : null}
      {selected > MOST_IDS && !every ? <span className="text-12 text-muted">At most {formatExact(MOST_IDS)} can be named one by one: the first of them are taken.</span> : null}
      <span className="ml-auto" />
      {mayReplay ? (
        <Button small disabled={!ended} onClick={() => onAsk("replay")}>
          {VERB.replay}
        </Button>
      ) : null}
      {mayCancel ? (
        <Button small disabled={!live} onClick={() => onAsk("cancel")}>
          {VERB.cancel}
        </Button>
      ) : null}
      {mayDelete ? (
        <Button small look="danger" disabled={!ended} onClick={() => onAsk("delete")}>
          {VERB.delete}
        </Button>
      ) : null}
      <Button small look="quiet" onClick={onClear}>
        Clear selection
      </Button>
    </div>
  );
}

/** The dialog that asks, and the strip that shows how far the operation is. */
export function useBulk(onOver: () => Promise<void>, onStarted: () => void): { ask: (action: Action, target: Target) => void; dialog: ReactNode; progress: ReactNode } {
  const [asked, setAsked] = useState<Asked>();
  const [started, setStarted] = useState<Operation>();
  const dialog = asked ? (
    <BulkDialog
      asked={asked}
      onClose={() => setAsked(undefined)}
      onStarted={(begun) => {
        setAsked(undefined);
        setStarted(begun);
        onStarted();
      }}
    />
  ) : null;
  const progress = started ? <Progress key={started.id} started={started} onOver={onOver} onGone={() => setStarted(undefined)} /> : null;
  return { ask: (action, target) => setAsked({ action, target }), dialog, progress };
}

function Progress({ started, onOver, onGone }: { started: Operation; onOver: () => Promise<void>; onGone: () => void }) {
  useLiveQueries(["operation"], [["operations", started.id]]);
  const { data = started } = useQuery({
    ...operation(started.id),
    // A standby does not tell operations by itself.
    refetchInterval: (query) => (query.state.data && query.state.data.state !== "running" ? false : 1500),
  });
  const action = data.action as Action;
  const told = useRef(false);
  const isOver = data.state !== "running";
  useEffect(() => {
    if (!isOver || told.current) return;
    told.current = true;
    const left = skippedText(data.skipped, data.skipped_by);
    toast.done(
      <>
        {DONE[action]} {jobsOf(data.done)}
        {left ? `; ${left}` : ""}.{" "}
        <Link to="/operations/$id" params={{ id: data.id }}>
          Open the operation
        </Link>
      </>,
    );
    void onOver().finally(onGone);
  }, [isOver, data, action, onOver, onGone]);
  return (
    <div role="status" className="mb-2 flex min-h-9 items-center gap-3 rounded border border-line bg-surface px-3">
      {DOING[action]}: {formatExact(data.done)} {data.total == null ? "" : `of ${formatExact(Math.max(data.total, data.done + data.skipped))} `}done
      {data.skipped > 0 ? `, ${formatExact(data.skipped)} skipped` : ""}
      <Link to="/operations/$id" params={{ id: data.id }} className="ml-auto">
        Open the operation
      </Link>
    </div>
  );
}
