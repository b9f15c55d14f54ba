import { expect, it } from "vitest";
import { rangeOf, stepOf } from "./range";

const now = Date.parse("2026-11-16T14:02:11Z");

it("a preset ends now, in whole minutes", () => {
  const range = rangeOf("6h", now);
  expect(new Date(range.to).toISOString()).toBe("2026-11-16T14:03:00.000Z");
  expect(range.to - range.from).toBe(6 * 3600_000);
  expect(range.moving).toBe(true);
  expect(rangeOf("6h", now + 30_000)).toEqual(range);
});

it("a chosen range stays where it is", () => {
  const text = "2026-11-16T13:00:00Z..2026-11-16T13:30:00Z";
  expect(rangeOf(text, now)).toEqual(rangeOf(text, now + 1e9));
  expect(rangeOf(text, now).moving).toBe(false);
});

it.each([undefined, "", "soon", "2026-11-16T13:00:00Z..", "2026-11-16T13:00:00Z..2026-11-16T12:00:00Z"])(
  "%s is the last hour",
  (text) => expect(rangeOf(text, now).text).toBe("1h"),
);

it("asks for about sixty points", () => {
  expect(["15m", "1h", "6h", "24h", "7d", "30d"].map((text) => stepOf(rangeOf(text, now)))).toEqual([
    "1m",
    "1m",
    "15m",
    "60m",
    "180m",
    "720m",
  ]);
});
