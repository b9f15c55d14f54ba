/** A whole worker in a few lines, for each way to write one, with the address of this server filled in. Pure. */
import { shellWord } from "@/design";

export interface Snippet {
  id: string;
  label: string;
  /** What to do first, as commands. */
  before: string[];
  code: string;
  language: string;
  /** What to type afterwards. */
  after: string[];
}

/** The address of the server, without a slash at its end. */
export const bare = (url: string): string => url.replace(/\/+$/, "");

/** What tells commands where the server is, if it is not where they look by themselves. */
export const addressLines = (serverUrl: string): string[] => (bare(serverUrl) === "http://127.0.0.1:8080" ? [] : [`export GANGER_URL=${bare(serverUrl)}`]);

/**
 * The first command: one that works as it is. A command as a job needs the token in the data directory of a server of one's own, so
 * that is named where it is not the usual one. Where nothing runs commands, a plain job does.
 */
export function firstCommand(runsCommands: boolean, data: { value: string; origin: string } | undefined): string {
  if (!runsCommands || !data) return `ganger enqueue echo -p '{"hello":"world"}' --wait`;
  return `ganger run${data.origin === "default" ? "" : ` --data ${shellWord(data.value)}`} -- echo hello`;
}

export function snippetsOf(serverUrl: string, authentication: boolean): Snippet[] {
  const url = bare(serverUrl);
  const token = authentication ? ["export GANGER_TOKEN=$(ganger token create my-worker --role worker -o name)"] : [];
  // With a token, curl must show it itself.
  const header = authentication ? ` -H "Authorization: Bearer $GANGER_TOKEN"` : "";
  return [
    {
      id: "cli",
      label: "Command line",
      before: [...token],
      code: `# every built-in kind: http, sleep, echo and more\nganger worker --name my-worker --threads 4`,
      language: "sh",
      after: [`ganger enqueue sleep -p '{"ms": 500}' --wait`],
    },
    {
      id: "python",
      label: "Python",
      before: [...token, "pip install ./sdk/python"],
      code: `# jobs.py\nfrom ganger import App\n\napp = App()\n\n@app.job("greet")\nasync def greet(name: str) -> str:\n    return f"hello, {name}"`,
      language: "python",
      after: ["python -m ganger worker jobs:app", `ganger enqueue greet -p '{"name": "Ada"}' --wait`],
    },
    {
      id: "rust",
      label: "Rust",
      before: [...token],
      code: `const GREET: Job<String, String> = Job::new("greet");\n\nasync fn greet(_: Ctx, name: String) -> Result<String, JobError> {\n    Ok(format!("hello, {name}"))\n}\n\n#[tokio::main]\nasync fn main() -> anyhow::Result<()> {\n    Worker::connect("${url}").handle(&GREET, greet).run().await?;\n    Ok(())\n}`,
      language: "rust",
      after: ["cargo run", `ganger enqueue greet -p '"Ada"' --wait`],
    },
    {
      id: "curl",
      label: "curl",
      before: [...token],
      code: `# a shell script can be a worker: claim, work, complete\nURL=${url}\ncurl -s $URL/v1/jobs${header} -d '{"kind": "letter", "queue": "post"}'\nTOKEN=$(curl -s $URL/v1/queues/post:claim${header} -d '{"max": 1, "wait": "10s"}' \\\n  | sed -E 's/.*"lease_token":"([^"]+)".*/\\1/')\ncurl -s $URL/v1/leases/$TOKEN:complete${header} -d '{"result": {"sent": true}}'`,
      language: "sh",
      after: [],
    },
  ];
}

/** A worker of one's own: not the one that lives inside the server. */
export const isOwn = (worker: { local: boolean; state: string }): boolean => !worker.local && worker.state !== "lost" && worker.state !== "gone";
