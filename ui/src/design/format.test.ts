import { describe, expect, it } from "vitest";
import * as f from "./format";

const plain = (text: string) => text.replaceAll("\u00a0", " ");

describe("numbers", () => {
  it.each([
    [0, "0"],
    [9999, "9,999"],
    [10_000, "10.0 k"],
    [812_400, "812 k"],
    [999_499, "999 k"],
    [999_700, "1.00 M"],
    [1_240_000, "1.24 M"],
    [12_400_000, "12.4 M"],
    [null, "—"],
    [Number.NaN, "—"],
  ])("%s reads %s", (value, text) => expect(plain(f.formatCount(value))).toBe(text));

  it.each([
    [1284, "1,284/s"],
    [0, "0/s"],
    [0.4, "0.4/s"],
    [12.5, "12.5/s"],
    [0.005, "0.30/min"],
    [undefined, "—"],
  ])("a rate of %s reads %s", (value, text) => expect(plain(f.formatRate(value))).toBe(text));

  it("a share that is not whole never reads as all or nothing", () => {
    expect(plain(f.formatPercent(0.9999))).toBe("> 99.9 %");
    expect(plain(f.formatPercent(1))).toBe("100 %");
    expect(plain(f.formatPercent(0.034))).toBe("3.4 %");
    expect(plain(f.formatPercent(0.0002))).toBe("< 0.1 %");
  });
});

describe("durations", () => {
  it.each([
    [0, "0 ms"],
    [0.4, "< 1 ms"],
    [840, "840 ms"],
    [999.6, "1.0 s"],
    [12_400, "12.4 s"],
    [59_940, "59.9 s"],
    [59_960, "1 m"],
    [200_000, "3 m 20 s"],
    [3_600_000, "1 h"],
    [187_200_000, "2 d 4 h"],
    [-5000, "-5.0 s"],
    [null, "—"],
  ])("%s ms reads %s", (value, text) => expect(plain(f.formatDuration(value))).toBe(text));
});

describe("time", () => {
  it("is relative to now, both ways", () => {
    expect(plain(f.formatRelative(88_000, 100_000))).toBe("12 s ago");
    expect(plain(f.formatRelative(340_000, 100_000))).toBe("in 4 m");
    expect(plain(f.formatRelative(100_400, 100_000))).toBe("now");
  });

  it("is absolute in the zone that is asked for", () => {
    const at = Date.parse("2026-11-16T13:02:11Z");
    expect(f.formatAbsolute(at, "UTC")).toBe("2026-11-16 13:02:11");
    expect(f.formatAbsolute(at, "Europe/Paris")).toBe("2026-11-16 14:02:11");
    expect(f.formatAbsolute(Date.parse("2026-11-16T00:00:05Z"), "UTC")).toBe("2026-11-16 00:00:05");
  });

  it("that is not known is not 1970", () => {
    expect(f.parseTime(null)).toBeUndefined();
    expect(f.parseTime("soon")).toBeUndefined();
    expect(f.formatAbsolute(Number.NaN, "UTC")).toBe("—");
  });
});

it("an id keeps its two ends", () => {
  expect(f.shortId("job_01J9X7QK5V8M3N2P4R6S8T0V1W")).toBe("01J9…0V1W");
});
