// Serves dist as the binary does, strict content policy included, and hands everything else to a running server.
//
//   npm run build && node scripts/serve.mjs http://127.0.0.1:8080 4173 /some/prefix
import { createReadStream, existsSync, readFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const [server = "http://127.0.0.1:8080", port = "4173", prefix = ""] = process.argv.slice(2);
const dist = fileURLToPath(new URL("../dist", import.meta.url));
const upstream = new URL(server);
const types = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};
const policy =
  "default-src 'self'; base-uri 'self'; object-src 'none'; frame-ancestors 'none'; form-action 'self'";

function page(response, path) {
  const depth = path.split("/").length - 1;
  const base = depth === 0 ? "./" : "../".repeat(depth);
  const html = readFileSync(join(dist, "index.html"), "utf8").replace('<base href="./" />', `<base href="${base}" />`);
  response.writeHead(200, { "content-type": types[".html"], "content-security-policy": policy });
  response.end(html);
}

createServer((incoming, response) => {
  const url = new URL(incoming.url, "http://here");
  if (!url.pathname.startsWith(`${prefix}/`)) return response.writeHead(404).end();
  const path = url.pathname.slice(prefix.length);
  if (!path.startsWith("/ui/")) {
    const headers = { ...incoming.headers, host: upstream.host };
    if (headers.origin) headers.origin = upstream.origin;
    const options = { host: upstream.hostname, port: upstream.port, method: incoming.method, headers };
    const onward = request({ ...options, path: path + url.search }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
      // A server that is gone takes its open answers with it: a stream must not seem to go on.
      answer.on("error", () => response.destroy());
    });
    onward.on("error", () => response.headersSent ? response.destroy() : response.writeHead(502).end());
    response.on("close", () => onward.destroy());
    return incoming.pipe(onward);
  }
  const name = normalize(path.slice("/ui/".length));
  const file = join(dist, name);
  if (name !== "." && extname(name) in types && existsSync(file)) {
    response.writeHead(200, { "content-type": types[extname(name)], "content-security-policy": policy });
    return createReadStream(file).pipe(response);
  }
  return page(response, path.slice("/ui/".length));
}).listen(Number(port), "127.0.0.1", () => console.log(`http://127.0.0.1:${port}${prefix}/ui/`));
