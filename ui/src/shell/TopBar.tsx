/** The bar at the top: where one is, search, the time range, the connection, settings. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useLocation, useNavigate } from "@tanstack/react-router";
import { CalendarRange, ChevronRight, CircleUser, Keyboard, LogIn, LogOut, Search } from "lucide-react";
import { api } from "@/api/client";
import { whoami } from "@/api/queries";
import { Button } from "@/design/Button";
import { Menu, MenuCheck, MenuChoice, MenuItem, MenuLabel, MenuLine } from "@/design/Menu";
import { zoneName } from "@/design/format";
import { KeyHint } from "@/design/parts";
import { toast } from "@/design/Toast";
import { changeSettings, useSettings } from "@/settings/settings";
import { ConnectionChip } from "./ConnectionChip";
import { MOD } from "./keys";
import { PLACES } from "./nav";
import { ANY_TIME, PRESETS, useTimeRange } from "./range";
import { EnvironmentBadge } from "./Rail";
import { namesOf } from "./title";

export function TopBar({ onSearch, onKeys }: { onSearch: () => void; onKeys: () => void }) {
  // Whoever is not logged in has nothing to search, and nothing that could be live.
  if (useAtLogin()) {
    return (
      <header className="flex h-12 shrink-0 items-center justify-between gap-3 border-b border-line px-6 max-sm:px-3">
        <Breadcrumb />
        <UserMenu onKeys={onKeys} />
      </header>
    );
  }
  return (
    <header className="flex h-12 shrink-0 items-center gap-3 border-b border-line px-6 max-sm:px-3 sm:grid sm:grid-cols-[minmax(0,1fr)_minmax(2rem,24rem)_minmax(max-content,1fr)]">
      <span className="flex min-w-0 items-center gap-2">
        <Breadcrumb />
        <span className="sm:hidden">
          <EnvironmentBadge slim={false} />
        </span>
      </span>
      <button type="button" onClick={onSearch} className="flex h-8 w-full min-w-8 items-center gap-2 rounded border border-line bg-surface px-2.5 text-muted hover:border-line-strong">
        <Search size={14} aria-hidden="true" className="shrink-0" />
        <span className="grow truncate text-left max-md:sr-only">Search or jump…</span>
        <span className="max-md:hidden" aria-hidden="true">
          <KeyHint keys={MOD === "⌘" ? "⌘K" : "Ctrl K"} />
        </span>
      </button>
      <span className="flex shrink-0 items-center justify-end gap-3">
        <RangePicker />
        <ConnectionChip />
        <UserMenu onKeys={onKeys} />
      </span>
    </header>
  );
}

/** Whether somebody is asked who he is. */
export function useAtLogin(): boolean {
  return useLocation().pathname.endsWith("/login");
}

function Breadcrumb() {
  const { pathname } = useLocation();
  const { place: label, thing } = namesOf(pathname);
  const place = PLACES.find((each) => each.label === label);
  return (
    <nav aria-label="Breadcrumb" className="flex min-w-0 items-center gap-1.5 max-sm:hidden">
      {place && thing ? (
        <Link to={place.to} className="text-muted">
          {label}
        </Link>
      ) : (
        <span className="font-medium whitespace-nowrap">{label}</span>
      )}
      {thing ? (
        <>
          <ChevronRight size={14} className="shrink-0 text-muted" aria-hidden="true" />
          <span className="max-w-52 truncate font-medium" aria-current="page" title={thing}>
            {thing}
          </span>
        </>
      ) : null}
    </nav>
  );
}

/** Pages whose figures are of a time range. On the others the picker would do nothing. */
const RANGED = /^\/(jobs|queues(\/[^/]+)?|failures(\/[^/]+)?|kinds(\/[^/]+)?|analytics)?$/;

function RangePicker() {
  const range = useTimeRange();
  const { pathname } = useLocation();
  const path = pathname.replace(/(.)\/$/, "$1");
  const atJobs = path === "/jobs";
  // Its place stays, so that nothing beside it moves.
  if (!RANGED.test(path)) return <span className="w-28 max-md:w-9" />;
  return (
    <Menu
      trigger={
        <Button look="quiet" icon={<CalendarRange size={14} />} aria-label={`Time range: ${range.label}`}>
          <span className="max-md:hidden">{range.label}</span>
        </Button>
      }
    >
      <MenuChoice label="Time range" value={range.moving && !range.unbounded ? range.text : ""} options={PRESETS.map(([name, label]) => [name as string, label] as const)} onChange={range.choose} />
      {range.moving || atJobs ? null : (
        <>
          <MenuLine />
          <MenuItem onSelect={range.reset}>Back to the last hour</MenuItem>
        </>
      )}
      {range.label !== ANY_TIME && atJobs ? (
        <>
          <MenuLine />
          <MenuItem onSelect={range.reset}>{ANY_TIME}</MenuItem>
        </>
      ) : null}
    </Menu>
  );
}

const ZONES = ["local", "UTC"] as const;

function UserMenu({ onKeys }: { onKeys: () => void }) {
  const settings = useSettings();
  const who = useQuery(whoami()).data;
  const navigate = useNavigate();
  const client = useQueryClient();
  const zones = [...new Set<string>([...ZONES, settings.zone])];
  const logOut = async () => {
    try {
      await api.post("/v1/auth:logout");
      client.clear();
      await navigate({ to: "/login" });
    } catch (thrown) {
      toast.failed("Couldn't log out", thrown);
    }
  };
  return (
    <Menu trigger={<Button look="quiet" icon={<CircleUser size={17} strokeWidth={1.5} />} aria-label="Settings and account" />}>
      <MenuLabel>{who ? (who.authentication ? who.who : "Login is off") : "Not logged in"}</MenuLabel>
      <MenuLine />
      <MenuChoice
        label="Theme"
        value={settings.theme}
        options={[
          ["system", "As the system"],
          ["dark", "Dark"],
          ["light", "Light"],
        ]}
        onChange={(theme) => changeSettings({ theme })}
      />
      <MenuChoice
        label="Density"
        value={settings.density}
        options={[
          ["compact", "Compact"],
          ["default", "Default"],
          ["comfortable", "Comfortable"],
        ]}
        onChange={(density) => changeSettings({ density })}
      />
      <MenuChoice label="Time zone" value={settings.zone} options={zones.map((zone) => [zone, zone === "local" ? `Local (${zoneName(zone)})` : zone] as const)} onChange={(zone) => changeSettings({ zone })} />
      <MenuCheck checked={settings.absoluteTimes} onChange={(absoluteTimes) => changeSettings({ absoluteTimes })}>
        Show absolute times
      </MenuCheck>
      <MenuCheck checked={settings.singleKeys} onChange={(singleKeys) => changeSettings({ singleKeys })}>
        Keyboard shortcuts
      </MenuCheck>
      <MenuLine />
      <MenuItem icon={<Keyboard size={14} />} hint={settings.singleKeys ? "?" : undefined} onSelect={onKeys}>
        Keys
      </MenuItem>
      {who?.authentication && who.who.startsWith("user:") ? (
        <MenuItem icon={<LogOut size={14} />} onSelect={() => void logOut()}>
          Log out
        </MenuItem>
      ) : null}
      {who ? null : (
        <MenuItem icon={<LogIn size={14} />} onSelect={() => void navigate({ to: "/login" })}>
          Log in
        </MenuItem>
      )}
    </Menu>
  );
}
