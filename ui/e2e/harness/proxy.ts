/** A reverse proxy that shows a server under a prefix, as `location /prefix/ { proxy_pass http://server/; }` does. */
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export class Proxy {
  private constructor(
    private readonly server: Server,
    readonly url: string,
    /** Paths that came without the prefix: a page that works under one never asks for them. */
    readonly strays: readonly string[],
  ) {}

  static async start(upstream: string, prefix: string): Promise<Proxy> {
    const to = new URL(upstream);
    const strays: string[] = [];
    const server = createServer((incoming, answer) => {
      const path = incoming.url ?? "/";
      if (!path.startsWith(`${prefix}/`)) {
        strays.push(path);
        answer.writeHead(404).end();
        return;
      }
      // The host stays the one that the browser asked for, as proxies are told to.
      const onward = request(
        { host: to.hostname, port: to.port, method: incoming.method, path: path.slice(prefix.length), headers: incoming.headers },
        (response) => {
          answer.writeHead(response.statusCode ?? 502, response.headers);
          response.pipe(answer);
        },
      );
      onward.on("error", () => (answer.headersSent ? answer.destroy() : answer.writeHead(502).end()));
      answer.on("close", () => onward.destroy());
      incoming.pipe(onward);
    });
    await new Promise<void>((go) => server.listen(0, "127.0.0.1", go));
    const { port } = server.address() as AddressInfo;
    return new Proxy(server, `http://127.0.0.1:${port}${prefix}`, strays);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((go) => this.server.close(go));
  }
}
