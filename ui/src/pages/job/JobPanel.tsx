/** A job in the inspector. */
import { Link } from "@tanstack/react-router";
import { Maximize2 } from "lucide-react";
import { useState } from "react";
import { Inspector, shortId } from "@/design";
import { JobView } from "./JobView";

export default function JobPanel({ id, onClose }: { id: string; onClose: () => void }) {
  const [tab, setTab] = useState("payload");
  return (
    <Inspector
      label={`Job ${id}`}
      title={<code className="text-12">{shortId(id)}</code>}
      onClose={onClose}
      actions={
        <Link to="/jobs/$id" params={{ id }} className="flex size-6 items-center justify-center rounded text-muted hover:bg-raised hover:text-text" aria-label="Open the page of this job">
          <Maximize2 size={14} />
        </Link>
      }
    >
      <JobView id={id} tab={tab} onTab={setTab} narrow />
    </Inspector>
  );
}
