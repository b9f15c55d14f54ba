/** The panels of the overview. Each reads for itself and fails alone. */
import { useState } from "react";
import { GroupDialog, type GroupTarget } from "@/pages/failures/GroupDialog";
import { Flow } from "./Flow";
import { NextUp } from "./NextUp";
import { Queues } from "./Queues";
import { SlowestKinds } from "./SlowestKinds";
import { Tiles } from "./Tiles";
import { TopFailures } from "./TopFailures";
import { Verdict } from "./Verdict";
import { Workers } from "./Workers";

export function Board() {
  const [target, setTarget] = useState<GroupTarget>();
  return (
    <div className="flex flex-col gap-4">
      <h1 className="sr-only">Overview</h1>
      <Verdict />
      <Tiles />
      <Flow />
      <Queues />
      <div className="grid grid-cols-2 items-start gap-4 max-md:grid-cols-1">
        <div className="flex min-w-0 flex-col gap-4">
          <TopFailures act={setTarget} />
          <NextUp />
        </div>
        <div className="flex min-w-0 flex-col gap-4">
          <Workers />
          <SlowestKinds />
        </div>
      </div>
      <GroupDialog target={target} onClose={() => setTarget(undefined)} />
    </div>
  );
}
