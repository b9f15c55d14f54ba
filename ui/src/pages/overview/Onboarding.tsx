/** The first run: three checks that tick themselves, and everything that is needed to make them do so. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Check, LoaderCircle, Play } from "lucide-react";
import { type ReactNode, useState } from "react";
import { api } from "@/api/client";
import { capabilities, stats, useMay, whoami, workers } from "@/api/queries";
import { FINAL, sumOf } from "@/api/types";
import { serverUrl } from "@/base";
import { Button, CliLine, CopyButton, Duration, ErrorPanel, shortId, StateLabel, Tabs } from "@/design";
import { useLiveQueries } from "@/live/hooks";
import { useFollowed } from "@/pages/submit/follow";
import { system } from "@/pages/system/queries";
import { addressLines, bare, firstCommand, isOwn, snippetsOf } from "./snippets";

export function Onboarding({ onDismiss }: { onDismiss: () => void }) {
  const now = useQuery(stats()).data;
  const fleet = useQuery(workers());
  // Workers come and go: the row turns by itself.
  useLiveQueries(["worker", "counts"], [["workers"]]);
  const ended = now ? sumOf(now.jobs, FINAL) > 0 : false;
  const own = fleet.data?.items.find(isOwn);
  const done = [now !== undefined, ended, own !== undefined].filter(Boolean).length;
  return (
    <div className="mx-auto flex w-full max-w-[860px] flex-col gap-4 pt-4">
      <header className="flex flex-wrap items-end gap-4">
        <div className="grow">
          <h1 className="text-20 font-semibold">Welcome to Ganger</h1>
          <p className="text-muted">Three steps to a job of your own. Steps complete automatically.</p>
        </div>
        <span className="text-muted">{done} of 3 done</span>
      </header>
      <ol className="panel divide-y divide-line">
        <Server />
        <RunJob done={ended} />
        <Connect worker={own?.name} />
      </ol>
      <footer className="flex flex-wrap items-center gap-3">
        <Demo />
        <Button look={done === 3 ? "primary" : "quiet"} className="ml-auto" onClick={onDismiss}>
          {done === 3 ? "Open the overview" : "Skip this and don’t show it again"}
        </Button>
      </footer>
    </div>
  );
}

function Step({ number, done, title, children }: { number: number; done: boolean; title: ReactNode; children?: ReactNode }) {
  return (
    <li className="flex gap-4 px-5 py-4 max-sm:px-3">
      <span
        role="img"
        aria-label={done ? `Step ${number}, done` : `Step ${number}, not done yet`}
        className={`flex size-6 shrink-0 items-center justify-center rounded-full border text-12 font-medium ${done ? "border-succeeded bg-succeeded text-canvas" : "border-line-strong text-muted"}`}
      >
        {done ? <Check size={14} strokeWidth={2.5} aria-hidden="true" /> : number}
      </span>
      <div className="flex min-w-0 grow flex-col gap-3">
        <h2 className="text-14 leading-6 font-medium">{title}</h2>
        {children}
      </div>
    </li>
  );
}

function Server() {
  const about = useQuery(capabilities());
  const now = useQuery(stats());
  return (
    <Step number={1} done={now.data !== undefined} title="Server is running">
      {now.error && !now.data ? (
        <ErrorPanel error={now.error} onRetry={() => void now.refetch()} />
      ) : (
        <p className="-mt-2 text-muted">
          Ganger {about.data?.version ?? ""} at <code>{bare(serverUrl(""))}</code>
        </p>
      )}
      {addressLines(serverUrl("")).map((command) => (
        <div key={command} className="flex flex-col gap-1">
          <p className="text-muted">Point your terminal at it:</p>
          <CliLine command={command} />
        </div>
      ))}
    </Step>
  );
}

function RunJob({ done }: { done: boolean }) {
  const [id, setId] = useState<string>();
  const may = useMay("enqueue");
  const job = useFollowed(id).data;
  const runsCommands = (useQuery(workers()).data?.items ?? []).some((worker) => worker.local && (worker.kinds.length === 0 || worker.kinds.includes("exec")));
  const data = useQuery(system()).data?.settings?.find((each) => each.setting === "data");
  const submit = useMutation({
    mutationFn: () => api.post("/v1/jobs", { body: { kind: "echo", payload: { hello: "from my first job" } } }),
    onSuccess: (made) => setId(made.id),
  });
  return (
    <Step number={2} done={done} title="Run a job">
      <div className="flex items-center gap-3 max-sm:flex-col max-sm:items-stretch">
        <div className="min-w-0 grow">
          <CliLine command={firstCommand(runsCommands, data)} />
        </div>
        {may ? (
          <>
            <span className="text-muted max-sm:hidden">or</span>
            <Button look={done ? "plain" : "primary"} icon={<Play size={13} />} busy={submit.isPending} onClick={() => submit.mutate()}>
              Run it for me
            </Button>
          </>
        ) : null}
      </div>
      {submit.error ? <ErrorPanel error={submit.error} title="The job was not submitted" onRetry={() => submit.mutate()} /> : null}
      {job ? (
        <div role="status" className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <StateLabel state={job.state} />
          <Link to="/jobs/$id" params={{ id: job.id }} className="font-mono text-12">
            {shortId(job.id)}
          </Link>
          {FINAL.includes(job.state) ? (
            <span className="text-muted">
              in <Duration ms={job.total_time_ms} />
              {job.worker ? ` on ${job.worker}` : ""}
            </span>
          ) : job.state === "queued" ? (
            <span className="text-muted">It waits for a worker that handles echo: the next step connects one.</span>
          ) : null}
        </div>
      ) : null}
    </Step>
  );
}

function Connect({ worker }: { worker: string | undefined }) {
  const [tab, setTab] = useState("cli");
  const authentication = useQuery(whoami()).data?.authentication ?? false;
  const snippets = snippetsOf(serverUrl(""), authentication);
  return (
    <Step number={3} done={worker !== undefined} title={worker === undefined ? "Connect a worker of your own" : `${worker} is connected`}>
      {worker === undefined ? (
        <p className="-mt-2 flex items-center gap-2 text-muted">
          <LoaderCircle size={13} className="turning" aria-hidden="true" /> Waiting for it to connect
        </p>
      ) : null}
      <Tabs
        label="Ways to write a worker"
        value={tab}
        onChange={setTab}
        tabs={snippets.map((snippet) => ({
          id: snippet.id,
          label: snippet.label,
          content: (
            <div className="flex flex-col gap-2">
              {snippet.before.map((command) => (
                <CliLine key={command} command={command} />
              ))}
              <div className="flex items-start gap-2 rounded border border-line bg-canvas pr-1 pl-2.5">
                <pre className="min-w-0 grow overflow-x-auto py-2 text-12" tabIndex={0} role="region" aria-label={`A worker with ${snippet.label}`}>
                  {snippet.code}
                </pre>
                <CopyButton text={snippet.code} label="Copy the worker" />
              </div>
              {snippet.after.map((command) => (
                <CliLine key={command} command={command} />
              ))}
            </div>
          ),
        }))}
      />
    </Step>
  );
}

/** Something to look at, for those who came to look. The traffic is the command's own, so that there is one of it. */
function Demo() {
  return (
    <div className="flex min-w-0 items-center gap-2 text-muted max-sm:flex-col max-sm:items-stretch">
      <span>Fill every page with demo traffic:</span>
      <CliLine command="ganger demo" />
    </div>
  );
}
