/** One schedule: when it fires next, what became of what was due, and what can be done about it. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { CirclePause, CirclePlay, Ellipsis, History, Pencil, Play, Trash2 } from "lucide-react";
import { useState } from "react";
import { api } from "@/api/client";
import { schedule, useMay } from "@/api/queries";
import type { components } from "@/api/schema";
import type { Schedule as ScheduleData } from "@/api/types";
import { Button, CodeView, ConfirmDialog, Facts, Menu, MenuItem, PageHeader, Panel, shellWord, shortId, Time, toast } from "@/design";
import { useLiveQueries } from "@/live/hooks";
import { Loaded } from "@/pages/data";
import { Mark } from "@/pages/glyphs";
import { Backfill } from "./Backfill";
import { Editor } from "./Editor";
import { ruleInEnglish, ruleOf } from "./english";
import { Instants } from "./Instants";
import { occurrences, payloadOf, upcoming } from "./queries";

const route = getRouteApi("/schedules/$name");
type Occurrence = components["schemas"]["OccurrenceBody"];

export default function Schedule() {
  const { name } = route.useParams();
  const query = useQuery(schedule(name));
  const next = useQuery(upcoming(name));
  const history = useQuery(occurrences(name));
  const payload = useQuery(payloadOf(name));
  useLiveQueries(["schedule"], [["schedules", name]]);
  return (
    <>
      <PageHeader title={name} actions={query.data ? <Actions schedule={query.data} /> : null}>
        {query.data ? ruleInEnglish(query.data) : null}
      </PageHeader>
      <div className="grid grid-cols-2 items-start gap-4 max-md:grid-cols-1">
        <div className="flex min-w-0 flex-col gap-4">
          <Panel title="Schedule">
            <Loaded query={query}>
              {(data) => (
                <Facts
                  items={[
                    ["State", <Mark key="state" tone={data.paused ? "warn" : "well"}>{data.paused ? "paused" : "on"}</Mark>],
                    ["Rule", <code key="rule">{ruleOf(data)}</code>],
                    ["Time zone", data.time_zone],
                    ["Next", <Time key="next" at={data.status?.next} fallback="never" />],
                    ["Kind", data.job.kind],
                    ["Queue", <Link key="queue" to="/queues/$queue" params={{ queue: data.job.queue ?? "default" }}>{data.job.queue ?? "default"}</Link>],
                    ["If still running", data.overlap.replaceAll("_", " ")],
                    ["Missed runs", data.misfire.replaceAll("_", " ")],
                    ["Max jitter", String(data.jitter)],
                    ["Active jobs", data.status?.live.length ? <Jobs key="live" ids={data.status.live} /> : "none"],
                    ["Changed", <Time key="changed" at={data.status?.updated_at} />],
                  ]}
                />
              )}
            </Loaded>
          </Panel>
          <Panel title="Payload">
            <div className="p-3">
              <Loaded query={payload} rows={2}>
                {(text) => <CodeView text={text} label={`Payload of ${name}`} empty="Its jobs have no payload." />}
              </Loaded>
            </div>
          </Panel>
        </div>
        <div className="flex min-w-0 flex-col gap-4">
          <Panel title="Next firings" aside={query.data?.paused ? "as if it were not paused" : query.data?.time_zone}>
            <Loaded query={next} rows={5}>
              {(data) => <Instants items={data.items} />}
            </Loaded>
          </Panel>
          <Panel title="Run history" aside={<Strip items={history.data?.items ?? []} />}>
            <Loaded query={history} rows={5}>
              {(data) => <Ledger items={data.items} />}
            </Loaded>
          </Panel>
        </div>
      </div>
    </>
  );
}

function Jobs({ ids }: { ids: readonly string[] }) {
  return (
    <span className="flex flex-wrap gap-x-3">
      {ids.slice(0, 10).map((id) => (
        <Link key={id} to="/jobs/$id" params={{ id }} className="font-mono text-12">
          {shortId(id)}
        </Link>
      ))}
    </span>
  );
}

/** How each looks: shape and colour, and its word for those who hear it. */
const FATE: Record<string, string> = { fired: "bg-succeeded h-3.5", waiting: "bg-queued h-2.5", skipped: "border border-retrying h-2.5" };

/** The last twenty, the newest at the right. */
function Strip({ items }: { items: readonly Occurrence[] }) {
  if (items.length === 0) return null;
  const shown = items.slice(0, 20).reverse();
  const fired = shown.filter((item) => item.state === "fired").length;
  return (
    <span role="img" aria-label={`${fired} of the last ${shown.length} fired`} title={`${fired} of the last ${shown.length} fired`} className="flex items-center gap-0.5">
      {shown.map((item) => (
        <span key={`${item.due_at} ${item.decided_at}`} className={`w-1.5 rounded-chip ${FATE[item.state] ?? FATE["waiting"]}`} />
      ))}
    </span>
  );
}

const REASON: Record<string, string> = {
  missed: "nobody was there to fire it",
  paused: "the schedule was paused",
  overlap: "the last run was still active",
  edited: "the schedule was changed",
  queue_draining: "the queue takes no submissions",
  unique_key: "a job with its unique key is there",
};

function Ledger({ items }: { items: readonly Occurrence[] }) {
  if (items.length === 0) return <p className="px-3 py-3 text-muted">It has not been due yet.</p>;
  return (
    <ul>
      {items.map((item) => (
        <li key={`${item.due_at} ${item.decided_at}`} className="flex min-h-(--row) flex-wrap items-center gap-x-4 border-b border-line px-3 last:border-b-0">
          <span className="w-24">
            <Mark tone={item.state === "fired" ? "well" : item.state === "skipped" ? "warn" : "plain"}>{item.state}</Mark>
          </span>
          <span className="min-w-20">
            <Time at={item.due_at} />
          </span>
          <span className="grow text-muted">
            {[item.count > 1 ? `${item.count} instants` : "", item.reason ? (REASON[item.reason] ?? item.reason) : "", item.cause === "schedule" ? "" : item.cause].filter(Boolean).join(" · ")}
          </span>
          {item.job ? (
            <Link to="/jobs/$id" params={{ id: item.job }} className="font-mono text-12">
              {shortId(item.job)}
            </Link>
          ) : null}
        </li>
      ))}
    </ul>
  );
}

function Actions({ schedule: data }: { schedule: ScheduleData }) {
  // Schedules belong to no queue: who sees only some queues may look and not touch.
  const may = useMay("schedule", "*");
  const client = useQueryClient();
  const navigate = useNavigate();
  const [open, setOpen] = useState<"edit" | "backfill">();
  const [removing, setRemoving] = useState<ScheduleData>();
  if (!may) return null;
  const { name } = data;
  const act = async (verb: "pause" | "resume" | "run", done: string) => {
    try {
      if (verb === "run") await api.post("/v1/schedules/{name}:run", { path: { name } });
      else if (verb === "pause") await api.post("/v1/schedules/{name}:pause", { path: { name } });
      else await api.post("/v1/schedules/{name}:resume", { path: { name } });
      toast.done(done);
    } catch (thrown) {
      toast.failed(`Couldn't ${verb} schedule ${name}`, thrown);
    }
    await client.invalidateQueries({ queryKey: ["schedules"] });
  };
  return (
    <>
      <Button icon={<Play size={14} />} title="Does not change when it fires next" onClick={() => void act("run", `Fired ${name}.`)}>
        Run now
      </Button>
      {data.paused ? (
        <Button icon={<CirclePlay size={14} />} onClick={() => void act("resume", `Resumed schedule ${name}.`)}>
          Resume schedule
        </Button>
      ) : (
        <Button icon={<CirclePause size={14} />} onClick={() => void act("pause", `Paused schedule ${name}.`)}>
          Pause schedule
        </Button>
      )}
      <Button icon={<Pencil size={14} />} onClick={() => setOpen("edit")}>
        Edit schedule
      </Button>
      <Menu trigger={<Button look="quiet" icon={<Ellipsis size={16} />} aria-label="More actions" />}>
        <MenuItem icon={<History size={14} />} onSelect={() => setOpen("backfill")}>
          Backfill a range…
        </MenuItem>
        <MenuItem icon={<Trash2 size={14} />} danger onSelect={() => setRemoving(data)}>
          Delete schedule…
        </MenuItem>
      </Menu>
      {open === "edit" ? <Editor schedule={data} onClose={() => setOpen(undefined)} /> : null}
      {open === "backfill" ? <Backfill name={name} onClose={() => setOpen(undefined)} /> : null}
      <ConfirmDialog
        target={removing}
        onClose={() => setRemoving(undefined)}
        ask={{
          title: (target) => `Delete schedule ${target.name}`,
          body: () => "It fires no more, and what became of its occurrences is forgotten. Jobs that it made stay.",
          action: (target) => `Delete ${target.name}`,
          danger: true,
          typed: (target) => target.name,
          cli: (target) => `ganger schedule delete ${shellWord(target.name)}`,
          run: async (target) => {
            await api.delete("/v1/schedules/{name}", { path: { name: target.name } });
            toast.done(`Deleted schedule ${target.name}.`);
            await navigate({ to: "/schedules" });
            client.removeQueries({ queryKey: ["schedules", target.name] });
            await client.invalidateQueries({ queryKey: ["schedules"] });
          },
        }}
      />
    </>
  );
}
