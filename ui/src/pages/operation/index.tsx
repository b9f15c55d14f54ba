/** One bulk operation: how far it is, what it skipped and why. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { CircleStop } from "lucide-react";
import { useState } from "react";
import { api } from "@/api/client";
import { operation, useMay } from "@/api/queries";
import type { Operation as OperationData } from "@/api/types";
import { Button, ConfirmDialog, Duration, Elapsed, Facts, formatCount, formatDuration, formatExact, Num, PageHeader, Panel, Rate, Time, toast, useNow } from "@/design";
import { useLiveQueries } from "@/live/hooks";
import { Loaded } from "@/pages/data";
import { Mark, Meter } from "@/pages/glyphs";
import { leftMs, paceOf, skippedInWords, targetOf, titleOf, toneOf, touchedOf } from "@/pages/operations/progress";

const route = getRouteApi("/operations/$id");

export default function Operation() {
  const { id } = route.useParams();
  const query = useQuery(operation(id));
  useLiveQueries(["operation"], [["operations", id]]);
  const title = query.data ? titleOf(query.data) : "Operation";
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
  const touched = touchedOf(data);
  const left = leftMs(data, now);
  // What was counted at the start is at least what was touched since.
  const total = data.total == null ? undefined : Math.max(data.total, touched);
  return (
    <div className="grid grid-cols-2 items-start gap-4 max-md:grid-cols-1">
      <Panel title="Progress" aside={<Mark tone={toneOf(data)}>{data.state}</Mark>}>
        <div className="flex flex-col gap-3 p-3">
          <div className="text-28 font-semibold">
            <Num value={touched} />{" "}
            <span className="text-13 font-normal text-muted">
              {total === undefined ? (touched === 1 ? "job" : "jobs") : `of ${formatExact(total)} jobs`}
              {left === undefined ? "" : `, about ${formatDuration(left)} left`}
            </span>
          </div>
          {total === undefined ? <p className="text-12 text-muted">There were too many jobs to count them beforehand.</p> : <Meter value={touched} of={total} label={`${formatExact(touched)} of ${formatExact(total)} jobs`} fill="bg-succeeded" />}
          <p className="text-muted">
            {formatExact(data.done)} done, {formatExact(data.skipped)} skipped{skipped.length > 0 ? `: ${skipped.join(", ")}` : ""}
          </p>
        </div>
      </Panel>
      <Panel title="Operation" aside={data.filter ? <Link to="/jobs" search={{ q: data.filter }}>List the jobs</Link> : null}>
        <Facts
          items={[
            ["Action", data.action],
            ["Jobs", <code key="jobs" className="text-12">{targetOf(data)}</code>],
            ["Reason", data.reason ?? "—"],
            ["Started by", data.by ?? "—"],
            ["Max jobs/s", <Rate key="rate" perSecond={data.rate} />],
            ["Jobs/s so far", <Rate key="pace" perSecond={paceOf(data, now)} />],
            ["Rows examined", <Num key="examined" value={data.examined} unit="rows" />],
            ["Started", <Time key="begun" at={data.created_at} />],
            ["Duration", data.finished_at ? <Duration key="took" ms={Date.parse(data.finished_at) - Date.parse(data.created_at)} /> : <Elapsed key="took" since={data.created_at} />],
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
          body: (target) => `What it has done stays done: ${formatCount(target.done)} jobs when this was opened. The rest are not touched.`,
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
