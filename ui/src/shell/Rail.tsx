/** The places of the page on the left: with words, as icons only, or as a bar at the bottom of a small screen. */
import { useQuery } from "@tanstack/react-query";
import { Link, useLocation } from "@tanstack/react-router";
import { PanelLeftClose, PanelLeftOpen } from "lucide-react";
import { useEffect, useRef, useSyncExternalStore } from "react";
import { capabilities, may, stats, whoami } from "@/api/queries";
import { STATES, sumOf } from "@/api/types";
import { Button } from "@/design/Button";
import { useIsMedium, useIsNarrow } from "@/design/media";
import { Tooltip } from "@/design/Tooltip";
import { Num } from "@/design/values";
import { changeSettings, useSettings } from "@/settings/settings";
import { useViews } from "@/settings/views";
import { PLACES, type Place } from "./nav";

const SEEN_KEY = "ganger.failures.seen";

export function Rail() {
  const narrow = useIsNarrow();
  const medium = useIsMedium();
  const { railCollapsed } = useSettings();
  const who = useQuery(whoami()).data;
  const places = PLACES.filter((place) => !place.needs || may(who, place.needs));
  if (narrow) return <BottomBar places={places} />;
  const slim = railCollapsed || medium;
  return (
    <nav aria-label="Pages" className={`flex shrink-0 flex-col border-r border-line bg-surface ${slim ? "w-13" : "w-54"}`}>
      <Link to="/" className="flex h-12 items-center gap-2 px-4 text-14 font-semibold text-text hover:no-underline" aria-label="Ganger, overview">
        <svg viewBox="0 0 16 16" width="18" height="18" fill="none" className="shrink-0 stroke-accent" strokeWidth="1.5" aria-hidden="true">
          <circle cx="8" cy="8" r="6.5" />
          <path d="M8 1.5a6.5 6.5 0 0 0 0 13z" className="fill-accent" />
        </svg>
        {slim ? null : "ganger"}
      </Link>
      <div className="flex min-h-0 grow flex-col gap-0.5 overflow-y-auto px-2 py-1">
        {places
          .filter((place) => !place.lower)
          .map((place) => (
            <div key={place.to}>
              <RailLink place={place} slim={slim} />
              {place.to === "/jobs" && !slim ? <SavedViews /> : null}
            </div>
          ))}
        <div className="my-2 h-px shrink-0 bg-line" />
        {places
          .filter((place) => place.lower)
          .map((place) => (
            <RailLink key={place.to} place={place} slim={slim} />
          ))}
      </div>
      <EnvironmentBadge slim={slim} />
      {medium ? null : (
        <Button look="quiet" small className="m-2 self-start" icon={slim ? <PanelLeftOpen size={15} /> : <PanelLeftClose size={15} />} aria-label={slim ? "Show words" : "Show icons only"} onClick={() => changeSettings({ railCollapsed: !railCollapsed })} />
      )}
    </nav>
  );
}

const LINK =
  "relative flex h-8 items-center gap-2.5 rounded px-2.5 text-muted hover:bg-raised hover:text-text hover:no-underline aria-[current=page]:bg-raised aria-[current=page]:text-text";

function RailLink({ place, slim }: { place: Place; slim: boolean }) {
  const Icon = place.icon;
  const link = (
    <Link to={place.to} activeOptions={{ exact: place.to === "/" }} className={LINK} aria-label={slim ? place.label : undefined}>
      <span className="relative">
        <Icon size={16} strokeWidth={1.5} aria-hidden="true" />
        {place.to === "/failures" ? <NewFailures /> : null}
      </span>
      {slim ? null : <span className="grow truncate">{place.label}</span>}
      {slim ? null : <RailCount place={place} />}
    </Link>
  );
  return slim ? (
    <Tooltip content={place.label} side="right">
      {link}
    </Tooltip>
  ) : (
    link
  );
}

function RailCount({ place }: { place: Place }) {
  const now = useQuery(stats()).data;
  if (!now) return null;
  let count: number | undefined;
  if (place.to === "/jobs") count = sumOf(now.jobs, STATES);
  if (place.to === "/failures") count = now.jobs.dead;
  if (place.to === "/workers") count = ["available", "busy", "draining"].reduce((sum, state) => sum + (now.workers[state] ?? 0), 0);
  if (!count) return null;
  return (
    <span className="text-12 text-muted">
      <Num value={count} unit={place.label.toLowerCase()} />
    </span>
  );
}

/** How many dead jobs there were when the failures were last looked at, in this tab or another. */
let seenHere = 0;
const seenListeners = new Set<() => void>();

function readSeen(): number {
  try {
    return Number(localStorage.getItem(SEEN_KEY) ?? 0);
  } catch {
    return seenHere;
  }
}

function writeSeen(count: number): void {
  seenHere = count;
  try {
    localStorage.setItem(SEEN_KEY, String(count));
  } catch {
    // Without storage it is known until the page is left.
  }
  for (const listener of seenListeners) listener();
}

function onSeen(listener: () => void): () => void {
  seenListeners.add(listener);
  addEventListener("storage", listener);
  return () => {
    seenListeners.delete(listener);
    removeEventListener("storage", listener);
  };
}

/** A dot where jobs died since the failures were last looked at. */
function NewFailures() {
  const dead = useQuery(stats()).data?.jobs.dead;
  const { pathname } = useLocation();
  const seen = useSyncExternalStore(onSeen, readSeen);
  const looking = pathname.startsWith("/failures");
  useEffect(() => {
    if (dead === undefined || (!looking && dead >= seen)) return;
    // Fewer than were seen: some were replayed or removed, and the next one is new again.
    if (dead !== seen) writeSeen(dead);
  }, [looking, dead, seen]);
  if (dead === undefined || dead <= seen || looking) return null;
  return (
    <span className="absolute -top-1 -right-1 size-2 rounded-full bg-dead">
      <span className="sr-only">New failures since you last looked</span>
    </span>
  );
}

/** So many find room in the rail; the palette has them all. */
const MOST_VIEWS = 8;

function SavedViews() {
  return useViews().slice(0, MOST_VIEWS).map((view) => (
    <Link key={`${view.own} ${view.name}`} title={view.own ? `${view.name}, in this browser only` : view.name} to="/jobs" search={{ q: view.query }} activeOptions={{ includeSearch: true }} className="flex h-7 items-center rounded pr-2 pl-9 text-12 text-muted hover:bg-raised hover:text-text hover:no-underline aria-[current=page]:text-text">
      <span className="truncate">{view.name}</span>
    </Link>
  ));
}

/** Which installation this is, in words; the amber bar is for production. */
export function EnvironmentBadge({ slim }: { slim: boolean }) {
  const label = useEnvironment();
  if (!label) return null;
  const production = /^prod/i.test(label);
  return (
    <div className={`mx-2 truncate border-l-2 px-2 py-1 text-12 font-medium ${production ? "border-retrying" : "border-line-strong text-muted"}`} title={label}>
      {slim ? label.slice(0, 4) : label}
    </div>
  );
}

export function useEnvironment(): string | undefined {
  const told = useQuery(capabilities()).data as { environment?: string | null } | undefined;
  return told?.environment ?? undefined;
}

function BottomBar({ places }: { places: readonly Place[] }) {
  const bar = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  // Not all of them fit: the one that is open is in sight.
  const open = places.findIndex(({ to }) => (to === "/" ? pathname === "/" : pathname.startsWith(to)));
  useEffect(() => {
    // Newer browsers answer with a promise, which is nothing to clean up with.
    void bar.current?.children[open]?.scrollIntoView({ inline: "nearest", block: "nearest" });
  }, [open]);
  return (
    <nav ref={bar} aria-label="Pages" className="fixed inset-x-0 bottom-0 z-20 flex h-13 overflow-x-auto border-t border-line bg-surface">
      {places.map((place) => {
        const Icon = place.icon;
        return (
          <Link key={place.to} to={place.to} activeOptions={{ exact: place.to === "/" }} className="flex min-w-17 grow flex-col items-center justify-center gap-0.5 text-12 text-muted hover:no-underline aria-[current=page]:text-text">
            <span className="relative">
              <Icon size={16} strokeWidth={1.5} aria-hidden="true" />
              {place.to === "/failures" ? <NewFailures /> : null}
            </span>
            <span className="max-w-17 truncate px-1">{place.label}</span>
          </Link>
        );
      })}
    </nav>
  );
}
