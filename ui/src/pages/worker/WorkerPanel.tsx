/** A worker in the inspector. */
import { Link } from "@tanstack/react-router";
import { Maximize2 } from "lucide-react";
import { Inspector } from "@/design";
import { Loaded } from "@/pages/data";
import { Drain, useWorker, WorkerView } from "./WorkerView";

export default function WorkerPanel({ id, onClose }: { id: string; onClose: () => void }) {
  const query = useWorker(id);
  return (
    <Inspector
      label={`Worker ${query.data?.name ?? id}`}
      title={query.data?.name ?? <code className="text-12">{id}</code>}
      onClose={onClose}
      actions={
        <Link to="/workers/$id" params={{ id }} className="flex size-6 items-center justify-center rounded text-muted hover:bg-raised hover:text-text" aria-label="Open the page of this worker">
          <Maximize2 size={14} />
        </Link>
      }
    >
      <Loaded query={query}>
        {(data) => (
          <div className="flex flex-col items-start gap-4 *:w-full">
            <WorkerView worker={data} narrow />
            <div>
              <Drain worker={data} />
            </div>
          </div>
        )}
      </Loaded>
    </Inspector>
  );
}
