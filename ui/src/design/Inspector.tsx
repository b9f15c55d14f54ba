/**
 * The panel on the right in which one thing is looked at without losing the list.
 *
 * From 1440 px on it stands beside the page; below it lies over it, and below 1024 px over all of it but for the bar at the top:
 * whether what is shown is live can be seen on any screen. It is not modal: the list can still be used. Escape closes it.
 */
import { PanelRightClose } from "lucide-react";
import { type PointerEvent, type ReactNode, useEffect, useRef } from "react";
import { changeSettings, clampInspector, useSettings } from "@/settings/settings";
import { Button } from "./Button";
import { useIsMedium, useIsWide } from "./media";

export function Inspector({ label, title, actions, onClose, children }: { label: string; title: ReactNode; actions?: ReactNode; onClose: () => void; children: ReactNode }) {
  const { inspectorWidth } = useSettings();
  const wide = useIsWide();
  const medium = useIsMedium();
  const element = useRef<HTMLElement>(null);
  useEffect(() => element.current?.focus({ preventScroll: true }), []);
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent) => {
      const busy = document.querySelector('[role="dialog"], [role="menu"]');
      if (event.key === "Escape" && !event.defaultPrevented && !busy) onClose();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [onClose]);

  const drag = (event: PointerEvent<HTMLDivElement>) => {
    const handle = event.currentTarget;
    handle.setPointerCapture(event.pointerId);
    handle.onpointermove = (move) => changeSettings({ inspectorWidth: clampInspector(innerWidth - move.clientX) });
    handle.onpointerup = () => {
      handle.onpointermove = null;
    };
  };
  const place = wide ? "relative" : medium ? "fixed inset-x-0 top-12 bottom-0 z-30 w-full! max-sm:bottom-13" : "fixed top-12 right-0 bottom-0 z-30";
  return (
    <aside
      ref={element}
      aria-label={label}
      tabIndex={-1}
      className={`sliding flex shrink-0 flex-col border-l border-line-strong bg-surface outline-none ${place}`}
      style={{ width: inspectorWidth }}
    >
      {medium ? null : (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- a focusable separator is a control (ARIA)
        <div
          role="separator"
          aria-label="Width of the inspector"
          aria-orientation="vertical"
          aria-valuemin={420}
          aria-valuemax={720}
          aria-valuenow={inspectorWidth}
          tabIndex={0}
          className="absolute inset-y-0 -left-1 w-2 cursor-col-resize hover:bg-accent/40"
          onPointerDown={drag}
          onKeyDown={(event) => {
            const step = { ArrowLeft: 20, ArrowRight: -20 }[event.key];
            if (step) changeSettings({ inspectorWidth: clampInspector(inspectorWidth + step) });
          }}
        />
      )}
      <header className="flex min-h-12 items-center gap-2 border-b border-line px-4">
        <div className="min-w-0 grow truncate">{title}</div>
        {actions}
        <Button look="quiet" small icon={<PanelRightClose size={15} />} aria-label="Close inspector" title="Close (Esc)" onClick={onClose} />
      </header>
      <div className="min-h-0 grow overflow-y-auto p-4">{children}</div>
    </aside>
  );
}
