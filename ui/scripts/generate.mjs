// Writes openapi.json and src/api/schema.d.ts from a running server.
//
//   npm run generate -- http://127.0.0.1:8080     asks that server
//   npm run generate -- http://127.0.0.1:8080 DIR writes them into that folder, to be compared
//   npm run generate                              only makes the types again from openapi.json
import { readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import openapiTS, { astToString } from "openapi-typescript";

const [server, folder] = process.argv.slice(2);
const into = (here) => (folder ? join(folder, basename(here)) : new URL(`../${here}`, import.meta.url));
const snapshot = into("openapi.json");
const types = into("src/api/schema.d.ts");

if (server) {
  const response = await fetch(new URL("/v1/openapi.json", server));
  if (!response.ok) {
    console.error(`${server} answered ${response.status}: is it a Ganger server?`);
    process.exit(1);
  }
  const document = await response.json();
  await writeFile(snapshot, `${JSON.stringify(document, null, 1)}\n`);
}
const document = JSON.parse(await readFile(snapshot, "utf8"));
// The types are found by path and method. Names of operations would only be in the way, and they are not unique.
for (const path of Object.values(document.paths)) {
  for (const operation of Object.values(path)) delete operation.operationId;
}
const text = astToString(await openapiTS(document, { defaultNonNullable: false }));
await writeFile(types, `// Made by \`npm run generate\` from openapi.json. Do not edit.\n${text}`);
console.log("wrote openapi.json and src/api/schema.d.ts");
