/** What can be done to one job: the one thing that fits its state first, the rest in a menu. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Ban, Copy, CopyPlus, Ellipsis, Pencil, Play, RotateCcw, Trash2 } from "lucide-react";
import { useId, useState } from "react";
import { api } from "@/api/client";
import { serverUrl } from "@/base";
import { payload, useMay } from "@/api/queries";
import { FINAL, type Job } from "@/api/types";
import { Button, ConfirmDialog, copyText, Dialog, ErrorPanel, Menu, MenuItem, MenuLine, SkeletonRows, toast } from "@/design";
import { useKeys } from "@/shell/keys";

type Verb = "replay" | "cancel" | "run-now";
const LABEL: Record<Verb, string> = { replay: "Replay", cancel: "Cancel", "run-now": "Run now" };
const DONE: Record<Verb, string> = { replay: "It runs again, with a fresh allowance of attempts.", cancel: "It is cancelled, or told to stop.", "run-now": "It is due now." };

/** What fits the state, the likeliest first. */
export function verbsOf(state: Job["state"]): readonly Verb[] {
  if (FINAL.includes(state)) return ["replay"];
  return state === "scheduled" || state === "retrying" ? ["run-now", "cancel"] : ["cancel"];
}

export function Actions({ job }: { job: Job }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [asked, setAsked] = useState<Asked>();
  const [editing, setEditing] = useState(false);
  const [busy, setBusy] = useState(false);
  const mayReplay = useMay("replay", job.queue);
  const mayCancel = useMay("cancel", job.queue);
  const mayDelete = useMay("purge", job.queue);
  const mayEnqueue = useMay("enqueue", job.queue);
  const mayRead = useMay("read_payload", job.queue);
  const allowed = (verb: Verb) => (verb === "replay" ? mayReplay : mayCancel);
  const verbs = verbsOf(job.state).filter(allowed);
  const call = async (verb: Verb) => {
    const path = { id: job.id };
    if (verb === "replay") await api.post("/v1/jobs/{id}:replay", { path });
    else if (verb === "cancel") await api.post("/v1/jobs/{id}:cancel", { path });
    else await api.post("/v1/jobs/{id}:run-now", { path });
    toast.done(DONE[verb]);
    await client.invalidateQueries({ queryKey: ["jobs", job.id] });
  };
  const act = async (verb: Verb) => {
    if (verb === "cancel") {
      setAsked("cancel");
      return;
    }
    setBusy(true);
    try {
      await call(verb);
    } catch (thrown) {
      toast.failed(`Couldn't ${LABEL[verb].toLowerCase()} this job`, thrown);
      await client.invalidateQueries({ queryKey: ["jobs", job.id] });
    }
    setBusy(false);
  };
  // A single key never does anything by itself: it asks.
  useKeys({
    r: () => verbs.includes("replay") && setAsked("replay"),
    c: () => verbs.includes("cancel") && setAsked("cancel"),
  });
  const copy = (text: string, what: string) => void copyText(text).then((copied) => copied && toast.done(`Copied ${what}.`));
  const [first, ...others] = verbs;
  const icon = (verb: Verb) => (verb === "replay" ? <RotateCcw size={14} /> : verb === "cancel" ? <Ban size={14} /> : <Play size={14} />);
  return (
    <div className="flex items-center gap-2">
      {first ? (
        <Button look={job.state === "dead" ? "primary" : "plain"} icon={icon(first)} busy={busy} onClick={() => void act(first)}>
          {LABEL[first]}
        </Button>
      ) : null}
      <Menu trigger={<Button icon={<Ellipsis size={16} />} aria-label="More actions" />}>
        {others.map((verb) => (
          <MenuItem key={verb} icon={icon(verb)} onSelect={() => void act(verb)}>
            {LABEL[verb]}
          </MenuItem>
        ))}
        {mayEnqueue && mayRead ? (
          <MenuItem icon={<Pencil size={14} />} onSelect={() => setEditing(true)}>
            Replay with edits
          </MenuItem>
        ) : null}
        {mayEnqueue && mayRead ? (
          <MenuItem icon={<CopyPlus size={14} />} onSelect={() => void navigate({ to: "/submit", search: { from: job.id } })}>
            Clone
          </MenuItem>
        ) : null}
        <MenuItem icon={<Copy size={14} />} onSelect={() => copy(`curl ${serverUrl(`v1/jobs/${job.id}`)}`, "the curl command")}>
          Copy as curl
        </MenuItem>
        <MenuItem icon={<Copy size={14} />} onSelect={() => copy(`ganger job ${first ?? "get"} ${job.id}`, "the command")}>
          Copy as CLI
        </MenuItem>
        {mayDelete && FINAL.includes(job.state) ? (
          <>
            <MenuLine />
            <MenuItem danger icon={<Trash2 size={14} />} onSelect={() => setAsked("delete")}>
              Delete
            </MenuItem>
          </>
        ) : null}
      </Menu>
      <ConfirmDialog
        target={asked}
        onClose={() => setAsked(undefined)}
        ask={{
          title: (what) => TITLE[what],
          body: (what) => warning(what, job.state),
          action: (what) => `${what.charAt(0).toUpperCase()}${what.slice(1)} job`,
          danger: asked !== "replay",
          cli: (what) => `ganger job ${what} ${job.id}`,
          run: async (what) => {
            if (what !== "delete") return call(what);
            await api.delete("/v1/jobs/{id}", { path: { id: job.id } });
            toast.done(`Deleted job ${job.id}.`);
            client.removeQueries({ queryKey: ["jobs", job.id] });
            await navigate({ to: "/jobs" });
          },
        }}
      />
      {editing ? <Edit job={job} onClose={() => setEditing(false)} /> : null}
    </div>
  );
}

type Asked = "replay" | "cancel" | "delete";
const TITLE: Record<Asked, string> = { replay: "Replay this job?", cancel: "Cancel this job?", delete: "Delete this job for ever?" };

function warning(what: Asked, state: Job["state"]): string {
  if (what === "replay") return "It runs again, with the same id and a fresh allowance of attempts.";
  if (what === "delete") return "Its payload, result, attempts and logs are gone for ever.";
  return state === "running" ? "It runs now. Its worker is told to stop it; what it has done so far is not undone." : "It never starts. It can be replayed later.";
}

/** A new job like this one, with another payload. The text goes out as it was typed, with every digit. */
function Edit({ job, onClose }: { job: Job; onClose: () => void }) {
  const [typed, setText] = useState<string>();
  const [refused, setFailed] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const navigate = useNavigate();
  const id = useId();
  const original = useQuery(payload(job.id));
  const text = typed ?? original.data;
  const failed = refused ?? original.error;
  const wrong = text === undefined ? undefined : jsonProblem(text);
  const run = async () => {
    if (text === undefined || wrong || busy) return;
    setBusy(true);
    setFailed(undefined);
    try {
      const { kind, queue, priority, max_attempts, threads, tags } = job;
      const rest = JSON.stringify({ kind, queue, priority, max_attempts, threads, tags: tags ?? [] });
      const made = await api.post("/v1/jobs", { body: `${rest.slice(0, -1)},"payload":${text}}` as never });
      toast.done("Submitted a new job with this payload.");
      onClose();
      await navigate({ to: "/jobs/$id", params: { id: made.id } });
    } catch (thrown) {
      setFailed(thrown);
      setBusy(false);
    }
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Replay with edits"
      description={`A new job of kind ${job.kind} in queue ${job.queue}. This one stays as it is.`}
      width="max-w-2xl"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" disabled={text === undefined || wrong !== undefined} busy={busy} onClick={() => void run()}>
            Submit 1 job
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        {text === undefined && !failed ? <SkeletonRows rows={4} /> : null}
        {text === undefined ? null : (
          <label htmlFor={id} className="flex flex-col gap-1">
            <span>Payload</span>
            <textarea id={id} className="field min-h-64 font-mono text-12" spellCheck={false} value={text} aria-invalid={wrong !== undefined} onChange={(event) => setText(event.target.value)} />
          </label>
        )}
        {wrong ? <div className="text-12">This is not JSON: {wrong}</div> : null}
        {failed ? <ErrorPanel error={failed} title="That did not work" /> : null}
      </div>
    </Dialog>
  );
}

function jsonProblem(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}
