import { describe, expect, it } from "vitest";
import {
  backoffMs,
  chipOf,
  DELAYED_AFTER_MS,
  GRACE_MS,
  initialLink,
  isStale,
  type Link,
  type LinkEvent,
  nextLink,
  OFFLINE_AFTER_FAILURES,
} from "./connection";

const after = (events: LinkEvent[], from: Link = initialLink(0)) => events.reduce(nextLink, from);
const open = after([{ type: "connecting" }, { type: "opened", at: 1000 }, { type: "behind", since: undefined }]);

describe("the connection chip", () => {
  it("is live while the stream is open and something is heard", () => {
    expect(chipOf(open, 1000 + DELAYED_AFTER_MS - 1)).toEqual({ state: "live" });
    const heard = nextLink(open, { type: "heard", at: 90_000 });
    expect(chipOf(heard, 95_000)).toEqual({ state: "live" });
  });

  it("says how long nothing was heard", () => {
    expect(chipOf(open, 1000 + DELAYED_AFTER_MS)).toEqual({ state: "delayed", seconds: 20 });
    expect(chipOf(open, 31_999)).toEqual({ state: "delayed", seconds: 30 });
  });

  it("says how slow a server is that sheds load, until it opens anew", () => {
    const slow = nextLink(open, { type: "slow", everyMs: 12_000, at: 5000 });
    expect(chipOf(slow, 5000)).toEqual({ state: "delayed", seconds: 12 });
    expect(chipOf(nextLink(slow, { type: "opened", at: 6000 }), 6000)).toEqual({ state: "live" });
  });

  it("counts down to the next try", () => {
    const lost = nextLink(open, { type: "lost", retryAt: 8000 });
    expect(chipOf(lost, 4000)).toEqual({ state: "reconnecting", seconds: 4 });
    expect(chipOf(lost, 9000)).toEqual({ state: "reconnecting", seconds: 0 });
    expect(chipOf(nextLink(lost, { type: "connecting" }), 9000)).toEqual({ state: "reconnecting", seconds: 0 });
  });

  it("is offline after the third failure, and tells from when the data is", () => {
    const lost: LinkEvent = { type: "lost", retryAt: 0 };
    const tries = (n: number) => after(Array.from({ length: n }, () => lost), open);
    expect(chipOf(tries(OFFLINE_AFTER_FAILURES - 1), 50_000).state).toBe("reconnecting");
    expect(chipOf(tries(OFFLINE_AFTER_FAILURES), 50_000)).toEqual({ state: "offline", since: 1000 });
    expect(chipOf(after([lost, { type: "network", online: false }], open), 5000).state).toBe("offline");
  });

  it("comes back as live from anywhere", () => {
    const lost: LinkEvent = { type: "lost", retryAt: 0 };
    const back = after([lost, lost, lost, lost, { type: "connecting" }, { type: "opened", at: 99_000 }], open);
    expect(chipOf(back, 99_000)).toEqual({ state: "live" });
    expect(back.failures).toBe(0);
  });

  it("is paused whatever else happens, and then what it was", () => {
    const paused = after([{ type: "pause" }, { type: "lost", retryAt: 0 }], open);
    expect(chipOf(paused, 1e6)).toEqual({ state: "paused" });
    expect(chipOf(nextLink(paused, { type: "resume", at: 1e6 }), 1e6).state).toBe("reconnecting");
    const resumed = after([{ type: "pause" }, { type: "resume", at: 1e6 }], open);
    expect(chipOf(resumed, 1e6)).toEqual({ state: "live" });
  });

  it("is not live before what is shown was read after the stream was open", () => {
    const opened = after([{ type: "connecting" }, { type: "opened", at: 1000 }]);
    expect(chipOf(opened, 1000)).toEqual({ state: "updating", late: false });
    const behind = nextLink(open, { type: "behind", since: 5000 });
    expect(chipOf(behind, 5000 + GRACE_MS - 1)).toEqual({ state: "updating", late: false });
    expect(chipOf(behind, 5000 + GRACE_MS)).toEqual({ state: "updating", late: true });
    expect(chipOf(nextLink(behind, { type: "behind", since: undefined }), 6000)).toEqual({ state: "live" });
  });
  it("does not shout on a page that was just opened, and does soon after", () => {
    expect(chipOf(initialLink(0), GRACE_MS - 1)).toEqual({ state: "updating", late: false });
    expect(chipOf(initialLink(0), GRACE_MS)).toEqual({ state: "reconnecting", seconds: 0 });
  });

  it("marks the page as stale unless it is live or just catches up", () => {
    expect(isStale({ state: "live" })).toBe(false);
    expect(isStale({ state: "updating", late: false })).toBe(false);
    for (const chip of [
      { state: "paused" },
      { state: "updating", late: true },
      { state: "reconnecting", seconds: 1 },
      { state: "delayed", seconds: 1 },
      { state: "offline", since: 0 },
    ] as const) {
      expect(isStale(chip)).toBe(true);
    }
  });

  it("does not take late words for a living stream", () => {
    const lost = nextLink(open, { type: "lost", retryAt: 8000 });
    expect(nextLink(lost, { type: "heard", at: 7000 }).heardAt).toBe(1000);
  });
});

it("waits longer after each failure, within bounds", () => {
  expect([0, 1, 2, 3, 4, 50].map((n) => backoffMs(n, 0))).toEqual([2000, 4000, 8000, 16_000, 30_000, 30_000]);
  expect(backoffMs(0, 1)).toBe(2500);
});
