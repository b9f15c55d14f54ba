// Writes `.br` and `.gz` beside every file of dist that gets smaller by it. The same input gives the same bytes.
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const dist = fileURLToPath(new URL("../dist", import.meta.url));
const compressible = new Set([".html", ".js", ".css", ".svg", ".json", ".txt", ".map"]);

const files = (await readdir(dist, { recursive: true, withFileTypes: true }))
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
  .sort();
let written = 0;
for (const file of files) {
  if (!compressible.has(extname(file))) continue;
  const bytes = await readFile(file);
  const forms = {
    br: brotliCompressSync(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
    }),
    gz: gzipSync(bytes, { level: 9 }),
  };
  for (const [ending, small] of Object.entries(forms)) {
    if (small.length < bytes.length) {
      await writeFile(`${file}.${ending}`, small);
      written += 1;
    } else {
      await rm(`${file}.${ending}`, { force: true });
    }
  }
}
console.log(`compressed: ${written} files`);
