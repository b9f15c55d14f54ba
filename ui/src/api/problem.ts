/** Why a request did not succeed, as the server says it (RFC 9457), or as we say it when no server answered. */
import type { components } from "./schema";

export type ProblemBody = components["schemas"]["ProblemBody"];

export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  readonly hint: string | undefined;
  readonly requestId: string | undefined;
  readonly retryable: boolean;
  /** What is wrong with which part of the request. */
  readonly fields: { pointer: string; detail: string }[];
  /** Of a filter: the byte at which it stops making sense, and what could stand there. */
  readonly position: number | undefined;
  readonly expected: string[];
  /** How long to wait before asking again, if the server said so. */
  readonly retryAfterMs: number | undefined;

  constructor(body: Partial<ProblemBody>, requestId?: string, retryAfterMs?: number) {
    super(body.detail ?? body.title ?? "the request failed");
    this.name = "Problem";
    this.status = body.status ?? 0;
    this.code = body.code ?? "unknown";
    this.title = body.title ?? "The request failed";
    this.detail = body.detail ?? this.title;
    this.hint = body.hint ?? undefined;
    this.requestId = body.request_id ?? requestId;
    this.retryable = body.retryable ?? false;
    this.fields = body.errors ?? [];
    this.position = body.position ?? undefined;
    this.expected = body.expected ?? [];
    this.retryAfterMs = retryAfterMs;
  }

  /** The permission that a 403 asks for, if it names one. */
  get permission(): string | undefined {
    return this.status === 403 ? /permission `([a-z_]+)`/.exec(this.detail)?.[1] : undefined;
  }

  /** The server could not be reached at all. */
  static unreachable(): Problem {
    return new Problem({
      code: "unreachable",
      title: "The server cannot be reached",
      detail: "No answer came from the server.",
      hint: "Check that it runs and that the network is up. The page keeps trying.",
      retryable: true,
    });
  }

  /** The problem of an answer that is not a success. */
  static async of(response: Response): Promise<Problem> {
    const requestId = response.headers.get("x-request-id") ?? undefined;
    const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
    const after = Number.isFinite(seconds) ? seconds * 1000 : undefined;
    if (response.headers.get("content-type")?.includes("problem+json")) {
      try {
        return new Problem((await response.json()) as ProblemBody, requestId, after);
      } catch {
        // A cut answer is told below by its status.
      }
    }
    const detail = `The server, or a proxy before it, answered ${response.status} ${response.statusText}`.trim();
    const body = { status: response.status, code: `http_${response.status}`, title: "The request failed", detail };
    return new Problem({ ...body, retryable: response.status >= 500 }, requestId, after);
  }

  /** Whatever was thrown, as a problem. */
  static from(thrown: unknown): Problem {
    if (thrown instanceof Problem) return thrown;
    const detail = thrown instanceof Error ? thrown.message : String(thrown);
    return new Problem({ code: "page_error", title: "The page failed", detail });
  }
}
