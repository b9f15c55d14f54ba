/** Payloads to begin with, for the kinds that every worker of Ganger has built in. */
const SAMPLES: Readonly<Record<string, string>> = {
  echo: '{\n  "hello": "world"\n}',
  noop: "{}",
  sleep: '{\n  "ms": 500\n}',
  fail: '{\n  "times": 1,\n  "message": "connection reset by peer"\n}',
  http: '{\n  "url": "https://example.com/hook",\n  "method": "POST",\n  "body": {"event": "ping"}\n}',
  exec: '{\n  "argv": ["echo", "hello"]\n}',
  add_numbers: '{\n  "x": 2,\n  "y": 3\n}',
  reverse_string: '{\n  "text": "hello"\n}',
  large_array_sum: '{\n  "numbers": [1, 2, 3]\n}',
  resize_image: '{\n  "url": "https://example.com/picture.png",\n  "width": 320,\n  "height": 200\n}',
  welcome_email: '{\n  "email": "ada@example.com",\n  "name": "Ada"\n}',
  cpu_intensive: '"anything"',
  io_intensive: '"anything"',
  mixed_workload: '"anything"',
  network_task: '"anything"',
  default: '"anything"',
};

const NOTES: Readonly<Record<string, string>> = {
  echo: "Gives back its payload.",
  noop: "Does nothing, successfully.",
  sleep: "Takes as long as it is told.",
  fail: "Fails that many times, then succeeds: a way to see retries.",
  http: "Makes a request. Addresses that are not public are refused unless the worker allows them.",
  exec: "Runs a command on a worker, and needs the token of that server: use ganger run, which sends it by itself.",
};

export const sampleOf = (kind: string): string | undefined => SAMPLES[kind.trim()];
export const noteOf = (kind: string): string | undefined => NOTES[kind.trim()];
/** Whether a payload is one that was filled in for somebody, and may be replaced by another. */
export const isSample = (payload: string): boolean => payload.trim() === "" || Object.values(SAMPLES).includes(payload);
