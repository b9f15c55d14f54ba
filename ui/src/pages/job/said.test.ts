import { expect, it } from "vitest";
import { partsOf } from "./said";

const said = (text: string) => partsOf(text).map(({ is, text: part }) => (is === "text" ? part : `<${is} ${part}>`)).join("");

it("begins a sentence with a capital and ends it", () => {
  expect(said("2 workers could run it")).toBe("2 workers could run it.");
  expect(said("all are busy!")).toBe("All are busy!");
});

it("finds moments, ids and commands", () => {
  const id = "job_01M7QH3G80EXF967HESW6JP2VV";
  expect(said(`it waits for ${id} until 2026-11-18T14:30:00.123456Z`)).toBe(`It waits for <job ${id}> until <time 2026-11-18T14:30:00.123456Z>.`);
  expect(said(`replay it (\`ganger job replay ${id}\`)`)).toBe(`Replay it (<code ganger job replay ${id}>)`);
});

it("leaves a command as it is typed", () => {
  expect(said("ganger worker start --queue mail")).toBe("<code ganger worker start --queue mail>");
  expect(said("`ganger queue resume mail`")).toBe("<code ganger queue resume mail>");
});
