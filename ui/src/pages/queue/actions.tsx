/** What can be done to a queue: each asks first where it stops work, and says afterwards what was done. */
import { useQueryClient } from "@tanstack/react-query";
import { CirclePause, CirclePlay, Ellipsis, Funnel, SlidersHorizontal, Trash2 } from "lucide-react";
import { useMemo, useState } from "react";
import { api } from "@/api/client";
import { useMay } from "@/api/queries";
import type { Queue } from "@/api/types";
import { Button, ConfirmDialog, formatCount, Menu, MenuItem, shellWord, toast } from "@/design";
import { type Command, useCommands } from "@/shell/commands";
import { LimitsEditor } from "./LimitsEditor";

type Verb = "pause" | "drain" | "purge";

/** Resumes without asking: it takes nothing away. */
export function useResume() {
  const client = useQueryClient();
  return async (queue: string) => {
    try {
      await api.post("/v1/queues/{queue}:resume", { path: { queue } });
      toast.done(`Resumed queue ${queue}.`);
    } catch (thrown) {
      toast.failed(`Couldn't resume queue ${queue}`, thrown);
    } finally {
      await client.invalidateQueries({ queryKey: ["queues"] });
    }
  };
}

const count = (queue: Queue, state: "queued" | "running" | "dead") => formatCount(queue.jobs[state] ?? 0);

/** What will be so afterwards, with the numbers of now. */
function consequence(verb: Verb, queue: Queue): string {
  switch (verb) {
    case "pause":
      return `Nothing of it starts any more: ${count(queue, "queued")} ready jobs wait until it is resumed. The ${count(queue, "running")} that run go on, and submissions are still accepted.`;
    case "drain":
      return `Submissions are refused until it is resumed. The ${count(queue, "queued")} ready and ${count(queue, "running")} running jobs still run.`;
    case "purge":
      return `${count(queue, "dead")} dead jobs are removed for ever, with their payloads, errors and attempts. This cannot be undone: export them first if anybody may ask.`;
  }
}

/** Asks before a queue is stopped, and does it. */
export function QueueConfirm({ asked, onClose }: { asked: { verb: Verb; queue: Queue } | undefined; onClose: () => void }) {
  const client = useQueryClient();
  return (
    <ConfirmDialog
      target={asked}
      onClose={onClose}
      ask={{
        title: ({ verb, queue }) => (verb === "purge" ? `Purge the dead jobs of ${queue.queue}` : `${verb === "pause" ? "Pause" : "Drain"} queue ${queue.queue}`),
        body: ({ verb, queue }) => consequence(verb, queue),
        action: ({ verb, queue }) => (verb === "purge" ? `Purge ${count(queue, "dead")} dead jobs` : `${verb === "pause" ? "Pause" : "Drain"} ${queue.queue}`),
        danger: asked?.verb === "purge",
        typed: ({ verb, queue }) => (verb === "purge" ? queue.queue : undefined),
        cli: ({ verb, queue }) => `ganger queue ${verb} ${shellWord(queue.queue)}${verb === "purge" ? " --yes" : ""}`,
        run: async ({ verb, queue }) => {
          const path = { queue: queue.queue };
          if (verb === "purge") {
            const { purged } = await api.post("/v1/queues/{queue}:purge", { path });
            toast.done(`Purged ${formatCount(purged)} dead jobs of ${queue.queue}.`);
          } else if (verb === "pause") {
            await api.post("/v1/queues/{queue}:pause", { path });
            toast.done(`Paused queue ${queue.queue}.`);
          } else {
            await api.post("/v1/queues/{queue}:drain", { path });
            toast.done(`Queue ${queue.queue} takes no more submissions.`);
          }
          await client.invalidateQueries({ queryKey: ["queues"] });
        },
      }}
    />
  );
}

/** The buttons of a queue's page, and its verbs for the palette. Only what is allowed. */
export function QueueActions({ queue }: { queue: Queue }) {
  const maySet = useMay("settings", queue.queue);
  const mayPurge = useMay("purge", queue.queue);
  const [asked, setAsked] = useState<{ verb: Verb; queue: Queue }>();
  const [editing, setEditing] = useState(false);
  const resume = useResume();
  const { queue: name, paused, draining } = queue;
  const closed = paused || draining;
  const commands = useMemo<Command[]>(() => {
    if (!maySet) return [];
    const verb = closed ? "resume" : "pause";
    return [{ id: `queue.${verb}.${name}`, group: "Do", label: `${closed ? "Resume" : "Pause"} queue ${name}`, cli: `ganger queue ${verb} ${shellWord(name)}`, run: () => (closed ? void resume(name) : setAsked({ verb: "pause", queue })) }];
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the numbers of the queue change every second, its name does not
  }, [maySet, closed, name]);
  useCommands(commands);
  if (!maySet && !mayPurge) return null;
  const dead = queue.jobs.dead ?? 0;
  return (
    <>
      {maySet ? (
        <>
          <Button icon={<SlidersHorizontal size={14} />} onClick={() => setEditing(true)}>
            Edit limits
          </Button>
          {closed ? (
            <Button look="primary" icon={<CirclePlay size={14} />} onClick={() => void resume(name)}>
              Resume queue
            </Button>
          ) : (
            <Button icon={<CirclePause size={14} />} onClick={() => setAsked({ verb: "pause", queue })}>
              Pause queue
            </Button>
          )}
        </>
      ) : null}
      <Menu trigger={<Button look="quiet" icon={<Ellipsis size={16} />} aria-label="More actions" />}>
        {maySet ? (
          <MenuItem icon={<Funnel size={14} />} disabled={draining} onSelect={() => setAsked({ verb: "drain", queue })}>
            Drain queue…
          </MenuItem>
        ) : null}
        {maySet && !paused && draining ? (
          <MenuItem icon={<CirclePause size={14} />} onSelect={() => setAsked({ verb: "pause", queue })}>
            Pause queue…
          </MenuItem>
        ) : null}
        {mayPurge ? (
          <MenuItem icon={<Trash2 size={14} />} danger disabled={dead === 0} hint={formatCount(dead)} onSelect={() => setAsked({ verb: "purge", queue })}>
            Purge dead jobs…
          </MenuItem>
        ) : null}
      </Menu>
      <QueueConfirm asked={asked} onClose={() => setAsked(undefined)} />
      {editing ? <LimitsEditor queue={queue} onClose={() => setEditing(false)} /> : null}
    </>
  );
}
