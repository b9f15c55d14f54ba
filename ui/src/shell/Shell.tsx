/** What is around every page. */
import { Outlet, useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { onUnauthenticated } from "@/api/client";
import { Toasts } from "@/design/Toast";
import { isStale } from "@/live/connection";
import { useConnection, useHub } from "@/live/hooks";
import { toggleTheme } from "@/settings/settings";
import { Announcer } from "./announce";
import { CheatSheet } from "./CheatSheet";
import { InspectorHost } from "./JobInspector";
import { type KeyMap, useKeys } from "./keys";
import { PLACES } from "./nav";
import { Palette } from "./Palette";
import { Rail, useEnvironment } from "./Rail";
import { useTitle } from "./title";
import { TopBar, useAtLogin } from "./TopBar";

export function Shell() {
  const [open, setOpen] = useState<"palette" | "keys">();
  const main = useRef<HTMLElement>(null);
  const hub = useHub();
  const navigate = useNavigate();
  const atLogin = useAtLogin();
  const stale = isStale(useConnection()) && !atLogin;
  useTitle(useEnvironment());

  useEffect(
    () =>
      onUnauthenticated(() => {
        if (!location.pathname.endsWith("/login")) {
          void navigate({ to: "/login", search: { next: location.href } });
        }
      }),
    [navigate],
  );
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() === "k" && (event.metaKey || event.ctrlKey)) {
        event.preventDefault();
        setOpen((before) => (before === "palette" ? undefined : "palette"));
      }
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  const chords = PLACES.flatMap((place) => (place.key ? [[`g ${place.key}`, () => void navigate({ to: place.to })] as const] : []));
  useKeys({
    ...(Object.fromEntries(chords) as KeyMap),
    "/": () => {
      const search = document.querySelector<HTMLElement>("[data-page-search]");
      if (search) search.focus();
      else setOpen("palette");
    },
    ".": () => hub.togglePause(),
    t: toggleTheme,
    "?": () => setOpen("keys"),
  });

  return (
    <div className={`flex h-full flex-col ${stale ? "border-t-2 border-retrying" : ""}`} data-stale={stale}>
      {/* A plain #main would lead away: the document has a base. */}
      <button type="button" className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded focus:bg-accent focus:px-3 focus:py-1.5 focus:text-on-accent" onClick={() => main.current?.focus()}>
        Skip to the page
      </button>
      <div className="flex min-h-0 grow">
        <Rail />
        <div className="flex min-w-0 grow flex-col max-sm:pb-13">
          <TopBar onSearch={() => setOpen("palette")} onKeys={() => setOpen("keys")} />
          <div className="flex min-h-0 grow">
            <main ref={main} id="main" data-scroll-restoration-id="main" tabIndex={-1} className="flex min-w-0 grow flex-col overflow-y-auto p-6 *:shrink-0 outline-none max-sm:p-3">
              <Outlet />
            </main>
            <InspectorHost />
          </div>
        </div>
      </div>
      <Toasts />
      <Announcer />
      {open === "palette" ? <Palette onClose={() => setOpen(undefined)} /> : null}
      {open === "keys" ? <CheatSheet onClose={() => setOpen(undefined)} /> : null}
    </div>
  );
}
