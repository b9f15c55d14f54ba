/** One bulk operation: how far it is, what it left alone and why. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { CircleStop } from "lucide-react";
import { useState } from "react";
import { api } from "@/api/client";
import { operation, useMay } from "@/api/queries";
import type { Operation as OperationData } from "@/api/types";
import { Button, ConfirmDialog, Elapsed, Facts, formatCount, Num, PageHeader, Panel, Rate, Time, toast, useNow } from "@/design";
import { useLiveQueries } from "@/live/hooks";
import { Loaded } from "@/pages/data";
import { Mark, Meter } from "@/pages/glyphs";
import { paceOf, skippedInWords, targetOf, toneOf } from "@/pages/operations/progress";

const route = getRouteApi("/operations/$id");

export default function Operation() {
  const { id } = route.useParams();
  const query = useQuery(operation(id));
  useLiveQueries(["operation"], [["operations", id]]);
  const title = query.data ? `${query.data.action.charAt(0).toUpperCase()}${query.data.action.slice(1)} ${targetOf(query.data)}` : "Operation";
  return (
    <>
      <PageHeader title={title} actions={query.data ? <Stop operation={query.data} /> : null}>
        Bulk operation <code className="text-12">{id}</code>
      </PageHeader>
      <Loaded query={query}>{(data) => <Content operation={data} />}</Loaded>
    </>
  );
}

function Content({ operation: data }: { operation: OperationData }) {
  const now = useNow();
  const skipped = skippedInWords(data);
  const touched = data.done + data.skipped;
  return (
    <div className="grid grid-cols-2 items-start gap-4 max-md:grid-cols-1">
      <Panel title="Progress" aside={<Mark tone={toneOf(data)}>{data.state}</Mark>}>
        <div className="flex flex-col gap-3 p-3">
          <div className="text-28 font-semibold">
            <Num value={data.done} /> <span className="text-13 font-normal text-muted">{data.done === 1 ? "job" : "jobs"} done</span>
          </div>
          {touched > 0 ? <Meter value={data.done} of={touched} label={`${formatCount(data.done)} of ${formatCount(touched)} jobs were done, the rest were left alone`} fill="bg-succeeded" /> : null}
          <ul className="text-muted">
            {skipped.length === 0 ? <li>No job was left alone.</li> : skipped.map((line) => <li key={line}>{line}</li>)}
          </ul>
        </div>
      </Panel>
      <Panel title="Operation" aside={data.filter ? <Link to="/jobs" search={{ q: data.filter }}>List the jobs</Link> : null}>
        <Facts
          items={[
            ["Action", data.action],
            ["Jobs", <code key="jobs" className="text-12">{targetOf(data)}</code>],
            ["Reason", data.reason ?? "—"],
            ["At most", <Rate key="rate" perSecond={data.rate} />],
            ["So far", <Rate key="pace" perSecond={paceOf(data, now)} />],
            ["Rows examined", <Num key="examined" value={data.examined} unit="rows" />],
            ["Begun", <Time key="begun" at={data.created_at} />],
            ["Over", data.finished_at ? <Time key="over" at={data.finished_at} /> : <span key="over">runs for <Elapsed since={data.created_at} /></span>],
          ]}
        />
      </Panel>
    </div>
  );
}

function Stop({ operation: data }: { operation: OperationData }) {
  const may = useMay("purge", "*");
  const client = useQueryClient();
  const [asked, setAsked] = useState<OperationData>();
  if (!may || data.state !== "running") return null;
  return (
    <>
      <Button icon={<CircleStop size={14} />} onClick={() => setAsked(data)}>
        Cancel operation
      </Button>
      <ConfirmDialog
        target={asked}
        onClose={() => setAsked(undefined)}
        ask={{
          title: () => "Cancel this operation",
          body: (target) => `What it has done stays done: ${formatCount(target.done)} jobs when this was opened. The rest are left alone.`,
          action: () => "Cancel operation",
          danger: true,
          cli: (target) => `ganger operation cancel ${target.id}`,
          run: async (target) => {
            await api.post("/v1/operations/{id}:cancel", { path: { id: target.id } });
            toast.done("Cancelled the operation.");
            await client.invalidateQueries({ queryKey: ["operations"] });
          },
        }}
      />
    </>
  );
}
