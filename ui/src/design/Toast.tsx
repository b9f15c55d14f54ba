/** Short messages about what was done, at the bottom right. A failure stays until it is closed. */
import { CircleAlert, CircleCheck, X } from "lucide-react";
import { type ReactNode, useSyncExternalStore } from "react";
import { Problem } from "@/api/problem";
import { Button } from "./Button";

interface Toast {
  id: number;
  text: ReactNode;
  detail?: ReactNode;
  failed: boolean;
}

const SHOWN_MS = 6000;
const MOST = 4;
let toasts: readonly Toast[] = [];
let next = 1;
const listeners = new Set<() => void>();

function change(to: readonly Toast[]): void {
  toasts = to;
  for (const listener of listeners) listener();
}

function add(toast: Omit<Toast, "id">): number {
  const id = next;
  next += 1;
  change([...toasts.slice(-(MOST - 1)), { ...toast, id }]);
  return id;
}

const remove = (id: number) => change(toasts.filter((toast) => toast.id !== id));

export const toast = {
  /** "Paused queue mail." with a link, if there is a place to look. */
  done(text: ReactNode): void {
    const id = add({ text, failed: false });
    setTimeout(() => remove(id), SHOWN_MS);
  },
  /** "Couldn't cancel 3 of 50 jobs" and why. */
  failed(text: ReactNode, thrown?: unknown): void {
    if (thrown === undefined) {
      add({ text, failed: true });
      return;
    }
    const problem = Problem.from(thrown);
    const detail = [problem.detail, problem.hint, problem.requestId && `request ${problem.requestId}`]
      .filter(Boolean)
      .join(" · ");
    add({ text, detail, failed: true });
  },
};

export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => toasts,
  );
  return (
    <section aria-label="Messages" className="fixed right-4 bottom-4 z-50 flex w-96 max-w-[calc(100vw-32px)] flex-col gap-2 max-sm:bottom-16">
      {shown.map((each) => (
        <div
          key={each.id}
          role={each.failed ? "alert" : "status"}
          className="appearing flex items-start gap-2 rounded border border-line-strong bg-raised px-3 py-2"
        >
          {each.failed ? (
            <CircleAlert size={16} className="mt-0.5 shrink-0 text-dead" aria-label="Failed" />
          ) : (
            <CircleCheck size={16} className="mt-0.5 shrink-0 text-succeeded" aria-hidden="true" />
          )}
          <div className="min-w-0 grow break-words">
            {each.text}
            {each.detail ? <div className="text-12 text-muted">{each.detail}</div> : null}
          </div>
          <Button look="quiet" small icon={<X size={14} />} aria-label="Dismiss" onClick={() => remove(each.id)} />
        </div>
      ))}
    </section>
  );
}
