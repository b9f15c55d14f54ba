import { expect, it } from "vitest";
import type { Worker } from "@/api/types";
import { fleetOf, inOrder, skewOf, toneOf, unserved } from "./fleet";

const worker = (name: string, state: string, more: Partial<Worker> = {}) => ({ id: name, name, state, threads: 4, threads_used: 1, version: "1.0", ...more }) as Worker;

it("counts only those that are here", () => {
  const fleet = fleetOf([worker("a", "available"), worker("b", "busy", { threads_used: 4 }), worker("c", "lost"), worker("d", "gone")]);
  expect(fleet).toMatchObject({ here: 2, lost: 1, threads: 8, used: 5 });
  expect(skewOf(fleet)).toBeUndefined();
});

it("says which versions run, the most common first", () => {
  const fleet = fleetOf([worker("a", "busy"), worker("b", "busy", { version: "2.0" }), worker("c", "busy", { version: "2.0" }), worker("d", "lost", { version: "0.1" })]);
  expect(skewOf(fleet)).toBe("2.0 on 2, 1.0 on 1");
});

it("puts what needs a look first", () => {
  const order = inOrder([worker("z", "gone"), worker("b", "available"), worker("a", "available"), worker("x", "lost"), worker("m", "draining")]);
  expect(order.map(({ name }) => name)).toEqual(["x", "m", "a", "b", "z"]);
  expect(toneOf(worker("x", "lost"))).toBe("bad");
});

it("finds jobs that no worker handles where they wait", () => {
  const pairs = [
    { kind: "video", queue: "gpu", jobs: { queued: 3 } },
    { kind: "video", queue: "mail", jobs: { queued: 1 } },
    { kind: "echo", queue: "mail.eu", jobs: { queued: 9 } },
    { kind: "video", queue: "idle", jobs: { queued: 0 } },
  ] as never;
  const workers = [
    worker("a", "busy", { kinds: ["echo"], queues: [] }),
    worker("b", "available", { kinds: ["video"], queues: ["mail*"] }),
    worker("c", "lost", { kinds: [], queues: [] }),
  ];
  expect(unserved(pairs, workers)).toEqual([{ kind: "video", queue: "gpu", waiting: 3 }]);
});
