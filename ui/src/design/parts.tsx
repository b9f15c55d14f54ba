/** The small parts: chips, key hints, skeletons, empty and failed panels. */
import { RotateCw, X } from "lucide-react";
import type { ReactNode } from "react";
import { serverUrl } from "@/base";
import { Problem } from "@/api/problem";
import { Button } from "./Button";
import { CopyButton } from "./CopyButton";

export function Chip({ children, onRemove, removeLabel, tone = "plain" }: { children: ReactNode; onRemove?: () => void; removeLabel?: string; tone?: "plain" | "warn" | "bad" }) {
  const border = { plain: "border-line-strong", warn: "border-retrying", bad: "border-dead" }[tone];
  return (
    <span className={`inline-flex h-5 items-center gap-1 rounded-chip border px-1.5 text-12 whitespace-nowrap ${border}`}>
      {children}
      {onRemove ? (
        <button type="button" aria-label={removeLabel ?? "Remove"} onClick={onRemove} className="-mr-1 flex size-6 items-center justify-center text-muted hover:text-text">
          <X size={12} />
        </button>
      ) : null}
    </span>
  );
}

/** A key or a chord: `g j`, `⌘K`. */
export function KeyHint({ keys }: { keys: string }) {
  return (
    <span className="inline-flex gap-0.5">
      {keys.split(" ").map((key) => (
        <kbd key={key} className="rounded-chip border border-line-strong bg-surface px-1 text-12 text-muted">
          {key}
        </kbd>
      ))}
    </span>
  );
}

export function Skeleton({ className = "h-4 w-24" }: { className?: string }) {
  return <span aria-hidden="true" className={`breathing inline-block rounded-chip bg-line ${className}`} />;
}

/** Rows that are about to come. */
export function SkeletonRows({ rows = 8, label = "Loading" }: { rows?: number; label?: string }) {
  return (
    <div role="status" aria-label={label} className="flex flex-col">
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} className="flex h-(--row) items-center gap-6 border-b border-line px-3">
          <Skeleton className="h-3 w-20" />
          <Skeleton className="h-3 w-40" />
          <Skeleton className="h-3 grow" />
          <Skeleton className="h-3 w-16" />
        </div>
      ))}
    </div>
  );
}

/** Nothing is here: says why, and what to do next. */
export function EmptyState({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <div className="flex flex-col items-center gap-3 px-6 py-12 text-center">
      <svg viewBox="0 0 64 40" width="64" height="40" fill="none" className="stroke-line-strong" strokeWidth="1.5" aria-hidden="true">
        <path d="M2 34h14l6-26h20l6 26h14M22 20h20" strokeLinejoin="round" />
      </svg>
      <div className="text-14 font-medium">{title}</div>
      {children ? <div className="max-w-[72ch] text-muted">{children}</div> : null}
      {action}
    </div>
  );
}

/** A panel that failed alone: what happened, what to do, and the id by which the server's log knows it. */
export function ErrorPanel({ error, title, onRetry }: { error: unknown; title?: string; onRetry?: () => void }) {
  const problem = Problem.from(error);
  return (
    <div role="alert" className="flex flex-col items-start gap-2 rounded border border-line border-l-2 border-l-dead bg-surface px-4 py-3">
      <div className="font-medium">{title ?? problem.title}</div>
      <div className="max-w-[72ch] break-words">{problem.detail}</div>
      {problem.hint ? <div className="max-w-[72ch] text-muted">{problem.hint}</div> : null}
      <div className="flex max-w-full flex-wrap items-center gap-3 text-12 text-muted">
        {onRetry ? (
          <Button small icon={<RotateCw size={12} />} onClick={onRetry}>
            Try again
          </Button>
        ) : null}
        {problem.status > 0 && !problem.code.startsWith("http_") ? (
          <a href={serverUrl(`problems/${problem.code}`)}>{problem.code}</a>
        ) : (
          <span>{problem.code}</span>
        )}
        {problem.requestId ? (
          <span className="inline-flex min-w-0 items-center gap-1">
            request <code className="break-all">{problem.requestId}</code>
            <CopyButton text={problem.requestId} label="Copy request id" />
          </span>
        ) : null}
      </div>
    </div>
  );
}

/** A head and what is under it. */
export function Panel({ title, aside, children, className }: { title: ReactNode; aside?: ReactNode; children: ReactNode; className?: string }) {
  return (
    <section className={`panel min-w-0 ${className ?? ""}`}>
      <header className="flex min-h-9 items-center gap-3 border-b border-line px-3">
        <h2 className="text-13 font-medium">{title}</h2>
        <div className="ml-auto flex items-center gap-2 text-12 text-muted">{aside}</div>
      </header>
      {children}
    </section>
  );
}

/** The head of a page: what it is, one sentence, and what can be done. */
export function PageHeader({ title, children, actions }: { title: ReactNode; children?: ReactNode; actions?: ReactNode }) {
  return (
    <header className="flex flex-wrap items-start gap-4 pb-4">
      <div className="min-w-0 grow">
        <h1 className="text-20 font-semibold">{title}</h1>
        {children ? <div className="text-muted">{children}</div> : null}
      </div>
      {actions ? <div className="flex flex-wrap gap-2">{actions}</div> : null}
    </header>
  );
}

/** Names and values, one under the other. */
export function Facts({ items }: { items: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="grid grid-cols-[max-content_1fr] gap-x-6 gap-y-1.5 px-3 py-2.5">
      {items.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-muted">{name}</dt>
          <dd className="min-w-0 break-words">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
