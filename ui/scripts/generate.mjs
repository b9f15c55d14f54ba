// Writes openapi.json and src/api/schema.d.ts from a running server.
//
//   npm run generate -- http://127.0.0.1:8080     asks that server
//   npm run generate                              only makes the types again from openapi.json
import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";

const snapshot = new URL("../openapi.json", import.meta.url);
const types = new URL("../src/api/schema.d.ts", import.meta.url);
const server = process.argv[2];

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
