/** Submits one job. What is sent is shown as curl and on the command line while it is written. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { api } from "@/api/client";
import { Problem } from "@/api/problem";
import { job as jobQuery, useMay, whoami } from "@/api/queries";
import type { Job } from "@/api/types";
import { serverUrl } from "@/base";
import { CliLine, CopyButton, EmptyState, ErrorPanel, PageHeader, Panel, SkeletonRows, Tabs } from "@/design";
import { JobForm } from "./JobForm";
import { Submitted } from "./Submitted";
import { bodyOf, cliOf, curlOf, type Draft, EMPTY, formatted } from "./form";
import { sampleOf } from "./samples";

const route = getRouteApi("/submit");

export default function Submit() {
  const search = route.useSearch();
  const may = useMay("enqueue");
  const who = useQuery(whoami());
  const copied = useCopied(search.from);
  const kind = search.kind ?? "";
  return (
    <>
      <PageHeader title={search.from ? "Submit a copy of a job" : "Submit a job"}>
        {search.from ? (
          <>
            Everything is as in{" "}
            <Link to="/jobs/$id" params={{ id: search.from }}>
              the job it is copied from
            </Link>
            , and can be changed.
          </>
        ) : (
          "Saved as soon as you see an id."
        )}
      </PageHeader>
      {who.data && !may ? (
        <EmptyState title="This needs the permission “enqueue”">
          You are <code>{who.data.who}</code> and may: {who.data.permissions.join(", ") || "nothing"}. Anybody with the permission “admin” can give another role.
        </EmptyState>
      ) : copied.error ? (
        <ErrorPanel error={copied.error} title="The job to copy could not be read" onRetry={copied.retry} />
      ) : search.from && !copied.draft ? (
        <SkeletonRows rows={6} label="Reading the job to copy" />
      ) : (
        <Desk key={`${search.from} ${kind} ${search.queue}`} start={copied.draft ?? { ...EMPTY, kind, queue: search.queue ?? "", payload: sampleOf(kind) ?? "" }} />
      )}
    </>
  );
}

/** A draft made of a job that is there. */
function useCopied(id: string | undefined): { draft: Draft | undefined; error: unknown; retry: () => void } {
  const known = useQuery({ ...jobQuery(id ?? ""), enabled: id !== undefined });
  const payload = useQuery({
    queryKey: ["jobs", id, "payload", "text"],
    queryFn: ({ signal }) => api.text("/v1/jobs/{id}/payload", { id: id ?? "" }, undefined, signal),
    enabled: id !== undefined,
  });
  const retry = () => {
    void known.refetch();
    void payload.refetch();
  };
  if (!known.data || payload.data === undefined) return { draft: undefined, error: known.error ?? payload.error, retry };
  return { draft: draftOf(known.data, payload.data), error: undefined, retry };
}

/** As it was, but for the unique key: that one is held by the job that is copied. */
export function draftOf(job: Job, payload: string): Draft {
  return {
    ...EMPTY,
    kind: job.kind,
    queue: job.queue,
    payload: formatted(payload),
    priority: job.priority === 0 ? "" : String(job.priority),
    maxAttempts: String(job.max_attempts),
    timeout: job.timeout,
    concurrencyKey: job.concurrency_key ?? "",
    threads: job.threads === 1 ? "" : String(job.threads),
    tags: (job.tags ?? []).join(", "),
  };
}

function Desk({ start }: { start: Draft }) {
  const [draft, setDraft] = useState(start);
  const [made, setMade] = useState<{ id: string; deduplicated: boolean }[]>([]);
  const submit = useMutation({
    // A text is sent as it is, so the payload keeps every digit.
    mutationFn: (sent: Draft) => api.post("/v1/jobs", { body: bodyOf(sent) as never }),
    onSuccess: ({ id, deduplicated }) => setMade((before) => [{ id, deduplicated }, ...before.filter((each) => each.id !== id)].slice(0, 8)),
  });
  const problem = useMemo(() => (submit.error ? Problem.from(submit.error) : undefined), [submit.error]);
  return (
    <div className="grid grid-cols-[minmax(0,3fr)_minmax(0,2fr)] items-start gap-6 max-md:grid-cols-1">
      <JobForm
        draft={draft}
        onChange={(change) => {
          setDraft((before) => ({ ...before, ...change }));
          if (submit.error) submit.reset();
        }}
        onSubmit={() => submit.mutate(draft)}
        busy={submit.isPending}
        problem={problem}
      />
      <div className="flex min-w-0 flex-col gap-4">
        <Submitted made={made} />
        <SameAs draft={draft} />
      </div>
    </div>
  );
}

function SameAs({ draft }: { draft: Draft }) {
  const [tab, setTab] = useState("cli");
  const authentication = useQuery(whoami()).data?.authentication ?? false;
  const curl = curlOf(draft, serverUrl(""), authentication);
  return (
    <Panel title="As CLI or curl">
      <div className="p-3 pt-1">
        <Tabs
          label="As CLI or curl"
          value={tab}
          onChange={setTab}
          tabs={[
            { id: "cli", label: "Command line", content: <CliLine command={cliOf(draft)} /> },
            {
              id: "curl",
              label: "curl",
              content: (
                <div className="flex items-start gap-2 rounded border border-line bg-canvas pr-1 pl-2.5">
                  <pre className="min-w-0 grow overflow-x-auto py-2 text-12" tabIndex={0} role="region" aria-label="The same with curl">
                    {curl}
                  </pre>
                  <CopyButton text={curl} label="Copy as curl" />
                </div>
              ),
            },
          ]}
        />
      </div>
    </Panel>
  );
}
