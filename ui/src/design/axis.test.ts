import { expect, it } from "vitest";
import { axisLabels, labelSpace, momentLabel } from "./axis";

const at = (text: string) => Date.parse(text) / 1000;

it("shows clocks within a day, days over several, and seconds where they matter", () => {
  expect(axisLabels([at("2026-11-16T13:05:00Z"), at("2026-11-16T13:10:00Z")], "UTC")).toEqual(["13:05", "13:10"]);
  expect(axisLabels([at("2026-11-16T13:05:15Z"), at("2026-11-16T13:05:30Z")], "UTC")).toEqual(["13:05:15", "13:05:30"]);
  expect(axisLabels([at("2026-11-16T18:00:00Z"), at("2026-11-17T00:00:00Z"), at("2026-11-17T06:00:00Z")], "UTC")).toEqual(["18:00", "17 Nov", "06:00"]);
  expect(axisLabels([at("2026-11-15T23:00:00Z"), at("2026-11-16T23:00:00Z")], "Europe/Paris")).toEqual(["16 Nov", "17 Nov"]);
});

it("gives longer labels more room", () => {
  expect(labelSpace(300, 1000)).toBeGreaterThan(labelSpace(3600, 1000));
});

it("says the day under the crosshair where there are several", () => {
  const week = [at("2026-11-10T00:00:00Z"), at("2026-11-16T12:30:00Z")];
  expect(momentLabel(week, 1, "UTC")).toBe("2026-11-16 12:30");
  expect(momentLabel([at("2026-11-16T12:00:00Z"), at("2026-11-16T12:30:00Z")], 1, "UTC")).toBe("12:30:00");
});
