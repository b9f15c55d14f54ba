/**
 * The typed way to the server: `await api.get("/v1/jobs/{id}", { path: { id } })`.
 *
 * Paths, parameters and bodies are those of the OpenAPI document. A refusal is thrown as a `Problem`. Who was logged in and
 * whose access token has run out gets a new one once, silently; who is not logged in is told by `onUnauthenticated`.
 */
import { serverUrl } from "@/base";
import { Problem } from "./problem";
import type { paths } from "./schema";

type Method = "get" | "put" | "post" | "delete";

/** Paths that know this method. */
export type PathsOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, { responses: unknown }> ? P : never;
}[keyof paths];

type Operation<P extends keyof paths, M extends Method> = M extends keyof paths[P] ? paths[P][M] : never;
type Parameters<O> = O extends { parameters: infer V } ? V : never;
type PathPart<O> = Parameters<O> extends { path: infer V } ? { path: V } : { path?: undefined };
type QueryPart<O> = Parameters<O> extends { query?: infer V } ? { query?: V } : { query?: undefined };
type BodyPart<O> = O extends { requestBody?: { content: { "application/json": infer V } } }
  ? { body?: V }
  : { body?: unknown };
type Json<R> = R extends { content: { "application/json": infer V } } ? V : undefined;
type Success = 200 | 201 | 202 | 204;

/** What a successful answer holds. */
export type Answer<P extends keyof paths, M extends Method> =
  Operation<P, M> extends { responses: infer R } ? Json<R[Extract<keyof R, Success>]> : never;

export type Options<P extends keyof paths, M extends Method> = PathPart<Operation<P, M>> &
  QueryPart<Operation<P, M>> &
  BodyPart<Operation<P, M>> & {
    signal?: AbortSignal | undefined;
    headers?: Record<string, string>;
  };

/** The address of an operation, for links and for `EventSource`-like readers. */
export function urlOf(
  path: string,
  segments?: Record<string, unknown>,
  query?: Record<string, unknown>,
): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(segments?.[name] ?? "")));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined || value === null || value === "") continue;
    search.set(name, Array.isArray(value) ? value.join(",") : String(value));
  }
  const text = search.toString();
  return serverUrl(filled) + (text ? `?${text}` : "");
}

let unauthenticated: () => void = () => {};

/** What happens when the server does not know who asks. The shell sends people to the login page. */
export function onUnauthenticated(handler: () => void): void {
  unauthenticated = handler;
}

let refreshing: Promise<boolean> | undefined;

/** Gets the next access token by the cookie that only this path sees. One at a time: a refresh token is good for one use. */
export function refreshLogin(): Promise<boolean> {
  const attempt = async () => {
    try {
      const response = await fetch(serverUrl("v1/auth:refresh"), { method: "POST", credentials: "same-origin" });
      return response.ok;
    } catch {
      return false;
    }
  };
  refreshing ??= attempt().finally(() => {
    refreshing = undefined;
  });
  return refreshing;
}

/** Sends a request, and once more if a new access token helps. Answers that are not a success are thrown. */
export async function send(url: string, init: RequestInit): Promise<Response> {
  const once = async () => {
    try {
      return await fetch(url, { credentials: "same-origin", ...init });
    } catch (thrown) {
      if (init.signal?.aborted) throw thrown;
      throw Problem.unreachable();
    }
  };
  let response = await once();
  if (response.status === 401 && !url.includes("/v1/auth:")) {
    if (await refreshLogin()) response = await once();
    if (response.status === 401) unauthenticated();
  }
  if (!response.ok) throw await Problem.of(response);
  return response;
}

async function call(method: string, path: string, options: Record<string, unknown>): Promise<unknown> {
  const url = urlOf(path, options["path"] as Record<string, unknown>, options["query"] as Record<string, unknown>);
  const headers: Record<string, string> = {
    accept: "application/json",
    ...(options["headers"] as Record<string, string> | undefined),
  };
  const init: RequestInit = { method, headers };
  if (options["signal"]) init.signal = options["signal"] as AbortSignal;
  if (options["body"] !== undefined) {
    headers["content-type"] = "application/json";
    const body = options["body"];
    // A text is JSON already: payloads go out as they were typed, with every digit.
    init.body = typeof body === "string" ? body : JSON.stringify(body);
  }
  const response = await send(url, init);
  if (response.status === 204) return undefined;
  return response.headers.get("content-type")?.includes("json") ? response.json() : response.text();
}

type Arguments<P extends keyof paths, M extends Method> =
  PathPart<Operation<P, M>> extends { path: unknown } ? [options: Options<P, M>] : [options?: Options<P, M>];

function verb<M extends Method>(method: M) {
  return <P extends PathsOf<M>>(path: P, ...[options]: Arguments<P, M>): Promise<Answer<P, M>> =>
    call(method.toUpperCase(), path as string, (options ?? {}) as Record<string, unknown>) as Promise<Answer<P, M>>;
}

export const api = {
  get: verb("get"),
  put: verb("put"),
  post: verb("post"),
  delete: verb("delete"),
  /** The bytes of an answer as text, for payloads and logs: numbers keep every digit. */
  text: async (path: PathsOf<"get">, segments: Record<string, string>, query?: Record<string, unknown>, signal?: AbortSignal) =>
    (await send(urlOf(path, segments, query), signal ? { signal } : {})).text(),
};
