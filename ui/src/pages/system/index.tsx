/** The servers, who leads, and what this one is. */
import { useQuery } from "@tanstack/react-query";
import { capabilities, cluster } from "@/api/queries";
import { Duration, Facts, PageHeader, Panel, Time } from "@/design";
import { Loaded } from "@/pages/data";

export default function System() {
  const what = useQuery(capabilities());
  const servers = useQuery({ ...cluster(), refetchInterval: 5000 });
  return (
    <>
      <PageHeader title="System" />
      <div className="flex flex-col gap-4">
        <Panel title="Servers">
          <Loaded query={servers}>
            {(data) => (
              <ul>
                {data.items.map((server) => (
                  <li key={server.name} className="flex min-h-(--row) flex-wrap items-center gap-4 border-b border-line px-3 last:border-b-0">
                    <span className="font-medium">{server.name}</span>
                    <span>{server.role}</span>
                    <span className="text-muted">{server.address}</span>
                    <span className="text-muted">{server.version}</span>
                    <span className="ml-auto text-muted">
                      heard <Duration ms={server.silent_ms} /> ago, since <Time at={server.started_at} />
                    </span>
                  </li>
                ))}
              </ul>
            )}
          </Loaded>
        </Panel>
        <Panel title="Limits">
          <Loaded query={what}>{(data) => <Facts items={Object.entries(data.limits).map(([name, value]) => [name.replaceAll("_", " "), String(value)] as const)} />}</Loaded>
        </Panel>
      </div>
    </>
  );
}
