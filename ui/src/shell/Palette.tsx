/** ⌘K: paste any id, go anywhere, do things; each verb shows its command line. */
import * as Radix from "@radix-ui/react-dialog";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { useMemo, useState } from "react";
import { api } from "@/api/client";
import { may, queues, whoami } from "@/api/queries";
import { shellWord } from "@/design/CopyButton";
import { toast } from "@/design/Toast";
import { useHub } from "@/live/hooks";
import { toggleTheme } from "@/settings/settings";
import { useViews } from "@/settings/views";
import { type Command, matchScore, placeOfId, usePageCommands } from "./commands";
import { PLACES } from "./nav";
import { readRecent } from "./recent";

const MOST = 40;

export function Palette({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const found = useFound(typed);
  const chosen = found[Math.min(at, found.length - 1)];
  const run = (command: Command | undefined) => {
    if (!command) return;
    onClose();
    command.run();
  };
  return (
    <Radix.Root open onOpenChange={(open) => !open && onClose()}>
      <Radix.Portal>
        <div className="appearing fixed inset-0 z-40 bg-[#000]/50" aria-hidden="true" />
        <Radix.Content aria-describedby={undefined} className="appearing fixed top-[10vh] left-1/2 z-50 flex max-h-[70vh] w-[calc(100vw-32px)] max-w-2xl -translate-x-1/2 flex-col overflow-hidden rounded border border-line-strong bg-raised">
          <Radix.Title className="sr-only">Search or jump</Radix.Title>
          <div className="flex items-center gap-2 border-b border-line px-3">
            <Search size={16} className="text-muted" aria-hidden="true" />
            <input
              className="h-11 grow bg-transparent text-14 outline-none placeholder:text-muted"
              placeholder="Paste an id, type a page or a verb…"
              role="combobox"
              aria-label="Search or jump"
              aria-expanded="true"
              aria-controls="palette-list"
              aria-activedescendant={chosen ? `palette-${chosen.id}` : undefined}
              value={typed}
              onChange={(event) => {
                setTyped(event.target.value);
                setAt(0);
              }}
              onKeyDown={(event) => {
                const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
                if (step) {
                  event.preventDefault();
                  setAt((Math.min(at, found.length - 1) + step + found.length) % Math.max(1, found.length));
                } else if (event.key === "Enter") {
                  event.preventDefault();
                  run(chosen);
                }
              }}
            />
          </div>
          <div id="palette-list" role="listbox" aria-label="Results" className="min-h-0 overflow-y-auto p-1">
            {found.map((command, index) => (
              <div key={command.id}>
                {found[index - 1]?.group === command.group ? null : (
                  <div role="presentation" className="px-2 pt-2 pb-1 text-12 font-medium text-muted">
                    {command.group}
                  </div>
                )}
                <div
                  id={`palette-${command.id}`}
                  role="option"
                  tabIndex={-1}
                  aria-selected={command === chosen}
                  ref={command === chosen ? (element) => element?.scrollIntoView({ block: "nearest" }) : undefined}
                  className={`flex min-h-8 cursor-default items-center gap-4 rounded-chip px-2 ${command === chosen ? "bg-accent/15" : ""}`}
                  onMouseMove={() => setAt(index)}
                  onClick={() => run(command)}
                  onKeyDown={undefined}
                >
                  <span className="min-w-0 grow truncate">{command.label}</span>
                  {command.cli ? <code className="truncate text-12 text-muted max-sm:hidden">{command.cli}</code> : null}
                </div>
              </div>
            ))}
            {found.length === 0 ? <div className="px-3 py-6 text-center text-muted">Nothing is called “{typed}”. Enter a job's id, a page, or a queue.</div> : null}
          </div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

function useFound(typed: string): Command[] {
  const commands = useCommandList();
  const navigate = useNavigate();
  return useMemo(() => {
    const place = placeOfId(typed);
    if (place) {
      return [{ id: "id", group: "Go to", label: `Open ${typed.trim()}`, run: () => void navigate({ to: place }) }];
    }
    const order = typed ? ["Go to", "Do", "Saved views", "Recent"] : ["Recent", "Go to", "Do", "Saved views"];
    const scored = commands.flatMap((command) => {
      const score = matchScore(command.label, typed);
      return score === undefined ? [] : [{ command, score }];
    });
    scored.sort((a, b) => order.indexOf(a.command.group) - order.indexOf(b.command.group) || a.score - b.score);
    const found = scored.slice(0, MOST).map(({ command }) => command);
    const text = typed.trim();
    if (text) {
      const go = () => void navigate({ to: "/jobs", search: (before) => ({ ...before, q: text }) });
      found.push({ id: "search", group: "Go to", label: `Search jobs for “${text}”`, cli: `ganger job list ${shellWord(text)}`, run: go });
    }
    return found;
  }, [commands, typed, navigate]);
}

function useCommandList(): Command[] {
  const navigate = useNavigate();
  const hub = useHub();
  const client = useQueryClient();
  const who = useQuery(whoami()).data;
  const queueList = useQuery(queues()).data?.items;
  const viewList = useViews();
  const ofPage = usePageCommands();
  return useMemo(() => {
    const list: Command[] = [];
    for (const recent of readRecent()) {
      list.push({ id: `recent-${recent.path}`, group: "Recent", label: recent.label, run: () => void navigate({ to: recent.path }) });
    }
    for (const place of PLACES) {
      if (place.needs && !may(who, place.needs)) continue;
      list.push({ id: `go-${place.to}`, group: "Go to", label: place.label, cli: place.cli, run: () => void navigate({ to: place.to }) });
    }
    list.push(...ofPage);
    for (const { queue, paused } of queueList ?? []) {
      list.push({ id: `queue-${queue}`, group: "Go to", label: `Queue ${queue}`, cli: `ganger queue get ${queue}`, run: () => void navigate({ to: "/queues/$queue", params: { queue } }) });
      if (!may(who, "settings", queue)) continue;
      const verb = paused ? "resume" : "pause";
      const run = async () => {
        try {
          await api.post(`/v1/queues/{queue}:${verb}`, { path: { queue } });
          toast.done(paused ? `Resumed queue ${queue}.` : `Paused queue ${queue}: nothing of it starts, and submissions are still accepted.`);
          await client.invalidateQueries({ queryKey: ["queues"] });
        } catch (thrown) {
          toast.failed(`Couldn't ${verb} queue ${queue}`, thrown);
        }
      };
      list.push({ id: `${verb}-${queue}`, group: "Do", label: `${paused ? "Resume" : "Pause"} queue ${queue}`, cli: `ganger queue ${verb} ${queue}`, run: () => void run() });
    }
    list.push({ id: "live", group: "Do", label: "Pause or resume live updates", run: () => hub.togglePause() });
    list.push({ id: "theme", group: "Do", label: "Switch between dark and light", run: toggleTheme });
    for (const view of viewList) {
      list.push({ id: `view-${view.own ? "own-" : ""}${view.name}`, group: "Saved views", label: view.name, cli: view.own ? `ganger job list ${shellWord(view.query)}` : `ganger view get ${shellWord(view.name)}`, run: () => void navigate({ to: "/jobs", search: { q: view.query } }) });
    }
    return list;
  }, [who, queueList, viewList, ofPage, navigate, hub, client]);
}
