/** Every key, on one page. */
import { Dialog } from "@/design/Dialog";
import { KeyHint } from "@/design/parts";
import { MOD } from "./keys";
import { PLACES } from "./nav";

const SECTIONS: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  ["Go to", PLACES.flatMap((place) => (place.key ? [[`g ${place.key}`, place.label] as const] : []))],
  [
    "Everywhere",
    [
      [`${MOD}+K`, "Search or jump"],
      ["/", "Search on this page"],
      [".", "Pause or resume live updates"],
      ["t", "Dark or light"],
      ["?", "This sheet"],
      ["Esc", "Close"],
    ],
  ],
  [
    "In a list",
    [
      ["j k", "Down, up"],
      ["x", "Select"],
      ["⇧x", "Select a range"],
      ["a", "Select what is loaded"],
      ["A", "Select all that match"],
      ["n", "Show new jobs"],
      ["Space", "Peek at the payload of a job"],
      ["Enter", "Open in the inspector"],
      ["o", "Open the page"],
    ],
  ],
  [
    "A job, in a list or open",
    [
      ["r", "Replay, after asking"],
      ["c", "Cancel, after asking"],
      ["e", "Why it does not run"],
      ["[ ]", "The one before, the one after, in the inspector"],
    ],
  ],
  [
    "In the filter",
    [
      ["↑ ↓", "What was searched before; suggestions"],
      ["Tab", "Take the suggestion"],
      ["Alt+Enter", "Negate this filter"],
    ],
  ],
];

export function CheatSheet({ onClose }: { onClose: () => void }) {
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()} title="Keys" width="max-w-3xl" readOnly>
      <div className="grid grid-cols-2 gap-x-8 gap-y-5 max-sm:grid-cols-1">
        {SECTIONS.map(([title, keys]) => (
          <section key={title}>
            <h3 className="pb-1 text-12 font-medium text-muted">{title}</h3>
            <dl className="flex flex-col">
              {keys.map(([key, text]) => (
                <div key={key} className="flex min-h-7 items-center justify-between border-b border-line">
                  <dt>{text}</dt>
                  <dd>
                    <KeyHint keys={key} />
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <p className="pt-4 text-12 text-muted">Single keys can be turned off in the menu at the top right. A key that asks first never does anything by itself.</p>
    </Dialog>
  );
}
