/** The places of the page: rail, chords and palette are made from this one list. */
import {
  Activity,
  CalendarClock,
  ChartLine,
  CircleX,
  Cpu,
  Layers,
  ListChecks,
  type LucideIcon,
  Rows3,
  Send,
  Server,
  Shapes,
} from "lucide-react";
import type { Permission } from "@/api/types";

export interface Place {
  to: "/" | "/jobs" | "/failures" | "/queues" | "/schedules" | "/workers" | "/operations" | "/kinds" | "/analytics" | "/submit" | "/system";
  label: string;
  icon: LucideIcon;
  /** The second key after `g`. */
  key?: string;
  /** The same on the command line. */
  cli: string;
  /** In the lower part of the rail. */
  lower?: boolean;
  needs?: Permission;
}

export const PLACES: readonly Place[] = [
  { to: "/", label: "Overview", icon: Activity, key: "o", cli: "ganger stats" },
  { to: "/jobs", label: "Jobs", icon: Rows3, key: "j", cli: "ganger job list" },
  { to: "/failures", label: "Failures", icon: CircleX, key: "f", cli: "ganger failure list" },
  { to: "/queues", label: "Queues", icon: Layers, key: "q", cli: "ganger queue list" },
  { to: "/schedules", label: "Schedules", icon: CalendarClock, key: "s", cli: "ganger schedule list" },
  { to: "/workers", label: "Workers", icon: Cpu, key: "w", cli: "ganger worker list" },
  { to: "/operations", label: "Operations", icon: ListChecks, key: "p", cli: "ganger operation list" },
  { to: "/analytics", label: "Analytics", icon: ChartLine, key: "a", cli: "ganger stats", lower: true },
  { to: "/kinds", label: "Kinds", icon: Shapes, key: "k", cli: "ganger stats", lower: true },
  { to: "/submit", label: "Submit a job", icon: Send, key: "n", cli: "ganger enqueue", lower: true, needs: "enqueue" },
  { to: "/system", label: "System", icon: Server, key: "y", cli: "ganger cluster status", lower: true },
];
