import { expect, it } from "vitest";
import { roomFor, within } from "./marks";

it("writes a name only where it lies over no other and ends within the chart", () => {
  const lines = [
    { left: 0, width: 50 },
    { left: 40, width: 50 },
    { left: 60, width: 30 },
    { left: 95, width: 30 },
  ];
  expect(roomFor(lines, 120)).toEqual([true, false, true, false]);
});

it("keeps what happened in the time that is shown, in order", () => {
  const marks = [5, 1, 9].map((at) => ({ at, label: String(at) }));
  expect(within(marks, 1, 6).map(({ at }) => at)).toEqual([1, 5]);
});
