import { expect, it } from "vitest";
import { FrameReader } from "./sse";

const whole = 'id: 1a-7\nevent: job\ndata: {"a":1}\n\n: alive\n\nevent: counts\r\ndata: one\r\ndata: two\r\n\r\n';
const frames = [
  { event: "job", data: '{"a":1}', id: "1a-7" },
  { event: "counts", data: "one\ntwo", id: undefined },
];

it("reads frames and leaves comments out", () => {
  expect(new FrameReader().push(whole)).toEqual(frames);
});

it("reads the same however the text is cut", () => {
  for (let at = 1; at < whole.length; at += 1) {
    const reader = new FrameReader();
    expect([...reader.push(whole.slice(0, at)), ...reader.push(whole.slice(at))]).toEqual(frames);
  }
});

it("gives nothing for a frame without data, and nothing of it to the next", () => {
  const reader = new FrameReader();
  expect(reader.push("event: gap\n\ndata: x\n\n")).toEqual([{ event: "message", data: "x", id: undefined }]);
});
