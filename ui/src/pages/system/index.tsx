/** The servers, who leads, whether all is well, how this one is set up, and who may use it. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "@/api/client";
import { capabilities, useMay } from "@/api/queries";
import type { components } from "@/api/schema";
import { Button, CliLine, ConfirmDialog, Duration, Facts, formatExact, PageHeader, Panel, shellWord, Tabs, Time, toast } from "@/design";
import { Loaded } from "@/pages/data";
import { Mark, VerdictStrip } from "@/pages/glyphs";
import { Appearance } from "./Appearance";
import { system, tokens, users } from "./queries";

const route = getRouteApi("/system");
type SystemData = components["schemas"]["SystemBody"];
type Token = components["schemas"]["TokenBody"];

export default function System() {
  const { tab = "health" } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(system());
  const admin = useMay("admin", "*");
  const tabs = [
    { id: "health", label: "Health", content: <Loaded query={query}>{(data) => <Health data={data} />}</Loaded> },
    { id: "configuration", label: "Configuration", content: <Loaded query={query}>{(data) => <Configuration data={data} />}</Loaded> },
    { id: "limits", label: "Limits", content: <Limits /> },
    ...(admin ? [{ id: "access", label: "Users and tokens", content: <Access /> }] : []),
    { id: "appearance", label: "Appearance", content: <Appearance /> },
  ];
  return (
    <>
      <PageHeader title="System">{query.data ? `ganger ${query.data.version}${query.data.environment ? `, ${query.data.environment}` : ""}` : null}</PageHeader>
      <Tabs label="Parts of the system" tabs={tabs} value={tabs.some(({ id }) => id === tab) ? tab : "health"} onChange={(id) => void navigate({ search: (before) => ({ ...before, tab: id === "health" ? undefined : id }) })} />
    </>
  );
}

function Health({ data }: { data: SystemData }) {
  const { cluster, checks, store, retention } = data;
  const bad = checks.filter((check) => !check.ok || check.warning);
  return (
    <>
      <VerdictStrip tone={!data.ready ? "bad" : bad.length > 0 ? "warn" : "well"}>
        <span className="font-medium">
          {data.ready ? (bad.length > 0 ? `Ready, with something to look at: ${bad.map(({ name }) => name).join(", ")}.` : "Ready: all checks pass.") : `Not ready: ${bad.map(({ name }) => name).join(", ")}.`}
        </span>
      </VerdictStrip>
      <div className="grid grid-cols-2 items-start gap-4 max-md:grid-cols-1">
        <Panel title="Checks">
          <ul>
            {checks.map((check) => (
              <li key={check.name} className="flex min-h-(--row) flex-wrap items-center gap-x-4 border-b border-line px-3 last:border-b-0">
                <span className="w-32">
                  <Mark tone={!check.ok ? "bad" : check.warning ? "warn" : "well"}>{check.name}</Mark>
                </span>
                <span className="text-muted">{check.warning ?? (check.detail || (check.ok ? "well" : "failed"))}</span>
              </li>
            ))}
          </ul>
        </Panel>
        <Panel title="Storage and retention">
          <Facts
            items={[
              ["Store", store.kind],
              ["Location", store.place ? <code key="place" className="text-12 break-all">{store.place}</code> : "not told"],
              ["Redis", store.accelerated ? "in use" : "not used"],
              ["Finished jobs are kept", retention.jobs.finished],
              ["Dead jobs are kept", retention.jobs.dead],
              ["Minute metrics kept", retention.minutes],
              ["Idempotency keys are kept", retention.idempotency_keys],
              ["Entries of the audit log, at most", formatExact(retention.audit_entries)],
            ]}
          />
        </Panel>
        <Panel title="Servers" className="col-span-2 max-md:col-span-1" aside={cluster.leader ? `${cluster.leader.name} leads in term ${cluster.leader.term}` : "nobody leads"}>
          {cluster.incomplete ? <p className="border-b border-line px-3 py-2 text-muted">{cluster.incomplete}</p> : null}
          <ul>
            {cluster.items.map((server) => (
              <li key={server.name} className="flex min-h-(--row) flex-wrap items-center gap-x-4 border-b border-line px-3 last:border-b-0">
                <Mark tone={server.silent_ms > 10_000 ? "warn" : "well"}>{server.name}</Mark>
                <span className="font-medium">{server.role}</span>
                <span className="text-muted">{server.address}</span>
                <span className="text-muted">{server.version}</span>
                {server.name === cluster.server ? <span className="text-muted">answers this page</span> : null}
                <span className="ml-auto text-muted">
                  heartbeat <Duration ms={server.silent_ms} /> ago, started <Time at={server.started_at} />
                </span>
              </li>
            ))}
          </ul>
        </Panel>
      </div>
    </>
  );
}

function Configuration({ data }: { data: SystemData }) {
  const [typed, setTyped] = useState("");
  const [all, setAll] = useState(false);
  if (!data.settings) return <p className="py-4 text-muted">The configuration is shown only to those with the permission “admin”.</p>;
  const shown = data.settings.filter((each) => (all || each.origin !== "default") && each.setting.includes(typed.trim().toLowerCase()));
  return (
    <Panel
      title="Effective configuration"
      aside={
        <>
          <label className="flex items-center gap-2 whitespace-nowrap">
            <input type="checkbox" className="size-4 accent-accent" checked={all} onChange={(event) => setAll(event.target.checked)} />
            Defaults too
          </label>
          <input data-page-search type="search" className="field w-40" aria-label="Find a setting" placeholder="Find a setting" value={typed} onChange={(event) => setTyped(event.target.value)} />
        </>
      }
    >
      {shown.length === 0 ? <p className="px-3 py-4 text-muted">{all ? "No setting has this in its name." : "Everything is as it is by default."}</p> : null}
      <dl>
        {shown.map((each) => (
          <div key={each.setting} className="flex min-h-(--row) flex-wrap items-center gap-x-4 border-b border-line px-3 last:border-b-0">
            <dt className="w-44 text-muted">{each.setting}</dt>
            <dd className="min-w-0 grow break-all">{each.value ? <code className="text-12">{each.value}</code> : <span className="text-muted">not set</span>}</dd>
            <dd className="text-12 text-muted">{each.origin}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}

function Limits() {
  const what = useQuery(capabilities());
  return (
    <Panel title="What a request may be at most">
      <Loaded query={what}>{(data) => <Facts items={Object.entries(data.limits).map(([name, value]) => [name.replaceAll("_", " "), typeof value === "number" ? formatExact(value) : value] as const)} />}</Loaded>
    </Panel>
  );
}

function Access() {
  const people = useQuery(users());
  const keys = useQuery(tokens());
  const client = useQueryClient();
  const [revoking, setRevoking] = useState<Token>();
  return (
    <div className="flex flex-col gap-4">
      <Panel title="Users">
        <Loaded query={people}>
          {(data) =>
            data.items.length === 0 ? (
              <p className="px-3 py-4 text-muted">There is no user yet. Make one with the line below.</p>
            ) : (
              <ul>
                {data.items.map((user) => (
                  <li key={user.name} className="flex min-h-(--row) flex-wrap items-center gap-x-4 border-b border-line px-3 last:border-b-0">
                    <span className="w-40 font-medium">{user.name}</span>
                    <span className="w-24">{user.role}</span>
                    <span className="text-muted">queues {user.queues.join(", ")}</span>
                    <span className="text-muted">{user.disabled ? "may not log in" : `${user.logins} ${user.logins === 1 ? "login" : "logins"}`}</span>
                    <span className="ml-auto text-muted">
                      since <Time at={user.created_at} />
                    </span>
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
        <div className="p-3">
          <CliLine command="ganger user add ada --role operator --password-file -" />
        </div>
      </Panel>
      <Panel title="Tokens">
        <Loaded query={keys}>
          {(data) =>
            data.items.length === 0 ? (
              <p className="px-3 py-4 text-muted">There is no token yet. Programs are recognised by one.</p>
            ) : (
              <ul>
                {data.items.map((token) => (
                  <li key={token.id} className="flex min-h-(--row) flex-wrap items-center gap-x-4 border-b border-line px-3 last:border-b-0">
                    <span className="w-40 font-medium">{token.name}</span>
                    <span className="w-24">{token.role}</span>
                    <span className="text-muted">queues {token.queues.join(", ")}</span>
                    <span className="text-muted">
                      used <Time at={token.used_at} fallback="never" />
                    </span>
                    <span className="text-muted">
                      until <Time at={token.expires_at} fallback="revoked" />
                    </span>
                    <Button small className="ml-auto" aria-label={`Revoke ${token.name}`} onClick={() => setRevoking(token)}>
                      Revoke
                    </Button>
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
        <div className="p-3">
          <CliLine command="ganger token create ci --role submitter" />
        </div>
      </Panel>
      <ConfirmDialog
        target={revoking}
        onClose={() => setRevoking(undefined)}
        ask={{
          title: (token) => `Revoke token ${token.name}`,
          body: (token) => `Whoever uses ${token.id} is refused from now on. This cannot be undone.`,
          action: (token) => `Revoke ${token.name}`,
          danger: true,
          cli: (token) => `ganger token revoke ${shellWord(token.id)}`,
          run: async (token) => {
            await api.delete("/v1/tokens/{id}", { path: { id: token.id } });
            toast.done(`Revoked token ${token.name}.`);
            await client.invalidateQueries({ queryKey: ["tokens"] });
          },
        }}
      />
    </div>
  );
}
