// Fails if what a browser must load before it can show the page is larger than agreed.
import { readdir, readFile, stat } from "node:fs/promises";
import { gzipSync } from "node:zlib";

const dist = new URL("../dist/", import.meta.url);
const SCRIPT_LIMIT = 200 * 1024;
const FONT_LIMIT = 90 * 1024;

const html = await readFile(new URL("index.html", dist), "utf8");
const initial = [...html.matchAll(/(?:src|href)="\.\/([^"]+\.js)"/g)].map((match) => match[1]);
if (initial.length === 0) throw new Error("index.html loads no script: this check would check nothing");

// Whatever the first scripts import without being asked is loaded as well.
const seen = new Set();
const queue = [...initial];
for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
  if (seen.has(name)) continue;
  seen.add(name);
  const text = await readFile(new URL(name, dist), "utf8");
  for (const [, other] of text.matchAll(/(?:import|from)\s*"\.\/([^"]+\.js)"/g)) {
    queue.push(`assets/${other}`);
  }
}
let scripts = 0;
for (const name of seen) scripts += gzipSync(await readFile(new URL(name, dist)), { level: 9 }).length;

let fonts = 0;
for (const name of await readdir(new URL("assets/", dist))) {
  if (name.endsWith(".woff2")) fonts += (await stat(new URL(`assets/${name}`, dist))).size;
}
const kb = (bytes) => `${(bytes / 1024).toFixed(1)} KB`;
console.log(`initial scripts: ${kb(scripts)} gzipped in ${seen.size} files (limit ${kb(SCRIPT_LIMIT)})`);
console.log(`fonts: ${kb(fonts)} (limit ${kb(FONT_LIMIT)})`);
if (scripts > SCRIPT_LIMIT || fonts > FONT_LIMIT) {
  console.error("too large: load what a page needs with the page (see ui/README.md, Size)");
  process.exit(1);
}
