/** The inspector of the whole page: `?inspect=job_…` or `?inspect=wrk_…` opens it on any page. Its content is loaded when it is first opened. */
import { CatchBoundary, useNavigate, useSearch } from "@tanstack/react-router";
import { Suspense, useCallback } from "react";
import { SkeletonRows } from "@/design/parts";
import { lazyPage } from "./lazy";
import { Crash } from "./Refused";

interface Panel {
  id: string;
  onClose: () => void;
}

const JobPanel = lazyPage<Panel>(() => import("@/pages/job/JobPanel"));
const WorkerPanel = lazyPage<Panel>(() => import("@/pages/worker/WorkerPanel"));

/** Opens and closes the inspector; the address keeps it. */
export function useInspector() {
  const { inspect } = useSearch({ strict: false }) as { inspect?: string };
  const navigate = useNavigate();
  const open = useCallback(
    (id: string | undefined) =>
      void navigate({ to: ".", replace: true, resetScroll: false, search: (before: object) => ({ ...before, inspect: id }) }),
    [navigate],
  );
  return { inspect, open, close: useCallback(() => open(undefined), [open]) };
}

export function InspectorHost() {
  const { inspect, close } = useInspector();
  const Panel = inspect?.startsWith("job_") ? JobPanel : inspect?.startsWith("wrk_") ? WorkerPanel : undefined;
  if (!Panel || inspect === undefined) return null;
  return (
    <CatchBoundary getResetKey={() => inspect} errorComponent={Crash}>
      <Suspense fallback={<SkeletonRows rows={4} />}>
        <Panel key={inspect} id={inspect} onClose={close} />
      </Suspense>
    </CatchBoundary>
  );
}
