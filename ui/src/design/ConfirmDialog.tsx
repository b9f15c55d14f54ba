/**
 * Asks before something is done.
 *
 * What is asked about is held from the moment the dialog opens: a list that refreshes behind it can never change what is
 * confirmed. Large or final actions want a word typed.
 */
import { type ReactNode, useId, useState } from "react";
import { Problem } from "@/api/problem";
import { Button } from "./Button";
import { CliLine } from "./CopyButton";
import { Dialog } from "./Dialog";
import { ErrorPanel } from "./parts";

export interface Confirmation<T> {
  title: (target: T) => string;
  body?: (target: T) => ReactNode;
  /** A verb with its object: "Cancel 3 jobs". */
  action: (target: T) => string;
  danger?: boolean;
  /** What must be typed, if anything. */
  typed?: (target: T) => string | undefined;
  cli?: (target: T) => string;
  run: (target: T) => Promise<void>;
}

/** `target` opens the dialog; `undefined` closes it. */
export function ConfirmDialog<T>({ target, onClose, ask }: { target: T | undefined; onClose: () => void; ask: Confirmation<T> }) {
  const [held, setHeld] = useState<T | undefined>(target);
  if (held === undefined && target !== undefined) setHeld(target);
  if (held !== undefined && target === undefined) setHeld(undefined);
  if (held === undefined) return null;
  return <Open held={held} ask={ask} onClose={onClose} />;
}

function Open<T>({ held, ask, onClose }: { held: T; ask: Confirmation<T>; onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<Problem>();
  const id = useId();
  const wanted = ask.typed?.(held);
  const ready = wanted === undefined || typed.trim() === wanted;
  const run = async () => {
    if (!ready || busy) return;
    setBusy(true);
    setFailed(undefined);
    try {
      await ask.run(held);
      onClose();
    } catch (thrown) {
      setFailed(Problem.from(thrown));
      setBusy(false);
    }
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={ask.title(held)}
      footer={
        <>
          <Button onClick={onClose}>{/^cancel/i.test(ask.action(held)) ? "Go back" : "Cancel"}</Button>
          <Button look={ask.danger ? "danger" : "primary"} disabled={!ready} busy={busy} onClick={() => void run()}>
            {ask.action(held)}
          </Button>
        </>
      }
    >
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        {ask.body?.(held)}
        {wanted === undefined ? null : (
          <label htmlFor={id} className="flex flex-col gap-1">
            <span>
              Type <code className="rounded-chip bg-surface px-1">{wanted}</code> to confirm
            </span>
            <input id={id} className="field" value={typed} autoComplete="off" spellCheck={false} onChange={(event) => setTyped(event.target.value)} />
          </label>
        )}
        {ask.cli ? <CliLine command={ask.cli(held)} /> : null}
        {failed ? <ErrorPanel error={failed} title="That did not work" /> : null}
      </form>
    </Dialog>
  );
}
