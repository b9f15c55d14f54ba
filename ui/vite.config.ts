import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/** While developing there is no server that writes the depth of the path into `<base>`. */
const developmentBase: Plugin = {
  name: "development-base",
  apply: "serve",
  transformIndexHtml: (html) => html.replace('<base href="./" />', '<base href="/ui/" />'),
};

export default defineConfig(({ command }) => ({
  // Relative, so that the page works under any prefix. The development server wants a place of its own.
  base: command === "build" ? "./" : "/ui/",
  plugins: [react(), tailwindcss(), developmentBase],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  build: {
    target: "es2022",
    modulePreload: { polyfill: false },
    // An inlined file would be a data: URL, which the content policy refuses.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 700,
  },
  worker: { format: "es" as const },
  server: {
    proxy: Object.fromEntries(
      ["/v1", "/problems", "/metrics", "/readyz"].map((path) => [
        path,
        process.env["GANGER_SERVER"] ?? "http://127.0.0.1:8080",
      ]),
    ),
  },
  test: {
    // A test that draws something asks for jsdom in its first line: it takes a second to start.
    environment: "node",
    include: ["src/**/*.test.{ts,tsx}"],
    setupFiles: ["src/test/setup.ts"],
    restoreMocks: true,
  },
}));
