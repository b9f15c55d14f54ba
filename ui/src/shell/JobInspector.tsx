/** The inspector of the whole page: `?inspect=job_…` opens it on any page. Its content is loaded when it is first opened. */
import { useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useCallback } from "react";
import { SkeletonRows } from "@/design/parts";

const JobPanel = lazy(() => import("@/pages/job/JobPanel"));

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
  if (!inspect?.startsWith("job_")) return null;
  return (
    <Suspense fallback={<SkeletonRows rows={4} />}>
      <JobPanel key={inspect} id={inspect} onClose={close} />
    </Suspense>
  );
}
