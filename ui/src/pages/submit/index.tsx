/** Submits one job. */
import { useMutation } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "@/api/client";
import { Button, CliLine, ErrorPanel, PageHeader, shellWord, toast } from "@/design";
import { parseJson } from "@/design/json";

const route = getRouteApi("/submit");

export default function Submit() {
  const search = route.useSearch();
  const navigate = useNavigate();
  const [kind, setKind] = useState(search.kind ?? "echo");
  const [queue, setQueue] = useState(search.queue ?? "default");
  const [payload, setPayload] = useState('{"hello": "world"}');
  const wrong = problemOf(payload);
  const submit = useMutation({
    // The payload goes as it was typed, with every digit.
    mutationFn: () => api.post("/v1/jobs", { body: `{"kind":${JSON.stringify(kind)},"queue":${JSON.stringify(queue)},"payload":${payload || "null"}}` as never }),
    onSuccess: async (job) => {
      toast.done(`Submitted ${job.kind}.`);
      await navigate({ to: "/jobs/$id", params: { id: job.id } });
    },
  });
  return (
    <>
      <PageHeader title="Submit a job" />
      <form
        className="flex max-w-2xl flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          if (!wrong) submit.mutate();
        }}
      >
        <label className="flex flex-col gap-1">
          Kind
          <input className="field" required value={kind} onChange={(event) => setKind(event.target.value)} />
        </label>
        <label className="flex flex-col gap-1">
          Queue
          <input className="field" required value={queue} onChange={(event) => setQueue(event.target.value)} />
        </label>
        <label className="flex flex-col gap-1">
          Payload (JSON)
          <textarea className="field min-h-32 font-mono text-12" spellCheck={false} aria-invalid={wrong !== undefined} value={payload} onChange={(event) => setPayload(event.target.value)} />
        </label>
        {wrong ? <div role="alert">The payload is {wrong}.</div> : null}
        <CliLine command={`ganger enqueue ${shellWord(kind)} --queue ${shellWord(queue)} --payload ${shellWord(payload)}`} />
        {submit.error ? <ErrorPanel error={submit.error} title="It was not submitted" /> : null}
        <div>
          <Button type="submit" look="primary" busy={submit.isPending} disabled={wrong !== undefined}>
            Submit job
          </Button>
        </div>
      </form>
    </>
  );
}

function problemOf(text: string): string | undefined {
  if (text.trim() === "") return undefined;
  try {
    parseJson(text);
    return undefined;
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}
