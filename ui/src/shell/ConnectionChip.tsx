/** Whether what is shown is live: exactly six states, each with its own shape. A click pauses and goes on. */
import { formatClock } from "@/design/format";
import { Tooltip } from "@/design/Tooltip";
import type { Chip } from "@/live/connection";
import { useConnection, useHub } from "@/live/hooks";
import { useSettings } from "@/settings/settings";

export function chipText(chip: Chip, zone: string): { mark: string; text: string; colour: string } {
  switch (chip.state) {
    case "live":
      return { mark: "●", text: "Live", colour: "text-succeeded" };
    case "updating":
      return { mark: "○", text: "Updating…", colour: "text-muted" };
    case "paused":
      return { mark: "❚❚", text: "Paused", colour: "text-retrying" };
    case "reconnecting":
      return { mark: "◌", text: `Reconnecting (${chip.seconds} s)`, colour: "text-retrying" };
    case "delayed":
      return { mark: "▲", text: `Delayed ${chip.seconds} s`, colour: "text-retrying" };
    case "offline":
      return { mark: "✕", text: `Offline — showing data from ${formatClock(chip.since, zone)}`, colour: "text-dead" };
  }
}

export function ConnectionChip() {
  const chip = useConnection();
  const hub = useHub();
  const { zone } = useSettings();
  const { mark, text, colour } = chipText(chip, zone);
  const paused = chip.state === "paused";
  return (
    <Tooltip content={paused ? "Go on with live updates (.)" : "Pause live updates (.)"}>
      <button
        type="button"
        data-connection={chip.state}
        aria-pressed={paused}
        aria-label={`${text}. ${paused ? "Go on" : "Pause"}`}
        className="inline-flex h-7 items-center gap-1.5 rounded-chip border border-line px-2 text-12 whitespace-nowrap hover:bg-raised"
        onClick={() => hub.togglePause()}
      >
        <span aria-hidden="true" className={`${colour} ${chip.state === "paused" ? "text-[8px]" : "text-[10px]"}`}>
          {mark}
        </span>
        {/* A small screen has room for when, and not for every word. */}
        <span className="sm:hidden">{text.replace("showing data from ", "")}</span>
        <span className="max-sm:hidden">{text}</span>
      </button>
    </Tooltip>
  );
}
