/** What is shown under "Live" is what the API says: on pages opened under traffic, and when their server was killed. Soak has the long form. */
import { rounds } from "./harness/truth";
import { test } from "./harness/test";

test("pages that are opened under traffic show what the API says", async ({ browser, ganger }) => {
  await rounds(browser, ganger, 2);
});

test("pages whose server is killed under traffic show what the API says when it is back", async ({ browser, ganger }) => {
  await rounds(browser, ganger, 1, () => ganger.restart());
});
