/** Twenty rounds of what `truth.spec.ts` does twice, and then with a server that is killed in each: `make soak`. */
import { rounds } from "./harness/truth";
import { test } from "./harness/test";

const ROUNDS = Number(process.env["GANGER_SOAK_ROUNDS"] ?? 20);
const ROUND_MS = 60_000;

test("pages that are opened under traffic always show what the API says", async ({ browser, ganger }) => {
  test.setTimeout(ROUNDS * ROUND_MS);
  await rounds(browser, ganger, ROUNDS);
});

test("pages whose server is killed under traffic always show what the API says when it is back", async ({ browser, ganger }) => {
  test.setTimeout(ROUNDS * ROUND_MS);
  await rounds(browser, ganger, ROUNDS, () => ganger.restart());
});
