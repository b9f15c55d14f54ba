/** The filter: completed while it is typed, underlined where it breaks, and shown as chips once it holds. */
import { useQuery } from "@tanstack/react-query";
import { Search, X } from "lucide-react";
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from "react";
import { api } from "@/api/client";
import { Problem } from "@/api/problem";
import { kindCounts, useMay, workers } from "@/api/queries";
import { Button, Chip } from "@/design";
import { accept, brokenPart, complete, type Completion, isPlain, type Known, opposite, pathsOf, termsOf, without } from "./filter";

/** Filters of this visit, the last one last. Not stored: a filter may hold values of payloads. */
const past: string[] = [];

export function SearchBox({ q, error, onSearch }: { q: string; error: unknown; onSearch: (q: string) => void }) {
  const [text, setText] = useState(q);
  const [caret, setCaret] = useState(q.length);
  const [open, setOpen] = useState(false);
  const [chosen, setChosen] = useState(-1);
  const [back, setBack] = useState(0);
  const [shownFor, setShownFor] = useState(q);
  const input = useRef<HTMLInputElement>(null);
  const under = useRef<HTMLDivElement>(null);
  const id = useId();
  if (shownFor !== q) {
    // Another filter came from elsewhere: a tab, a chip, the histogram, the address.
    setShownFor(q);
    setText(q);
  }
  const known = useKnown(open, /payload\./.test(text));
  const completion = useMemo(() => (open ? complete(text, caret, known) : undefined), [open, text, caret, known]);
  const options = completion?.options ?? [];
  const problem = error ? Problem.from(error) : undefined;
  const broken = problem?.position !== undefined && text === q ? brokenPart(q, problem.position) : undefined;

  const write = (next: string, at: number) => {
    setText(next);
    setCaret(at);
    setChosen(-1);
    requestAnimationFrame(() => input.current?.setSelectionRange(at, at));
  };
  const search = (next: string) => {
    setOpen(false);
    setChosen(-1);
    setBack(0);
    const trimmed = next.trim();
    if (trimmed && past.at(-1) !== trimmed) past.push(trimmed);
    setText(trimmed);
    onSearch(trimmed);
  };
  const take = (from: Completion, index: number) => {
    const option = from.options[index];
    if (!option) return;
    const next = accept(text, from, option);
    write(next.text, next.caret);
  };
  const recall = (step: number) => {
    const to = Math.min(past.length, Math.max(0, back + step));
    setBack(to);
    const found = to === 0 ? q : (past.at(-to) ?? q);
    write(found, found.length);
    setOpen(false);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const list = options.length > 0;
    if (event.key === "ArrowDown" && list) setChosen((chosen + 1) % options.length);
    else if (event.key === "ArrowUp" && list && chosen >= 0) setChosen(chosen - 1);
    else if (event.key === "ArrowUp" && past.length > 0) recall(1);
    else if (event.key === "ArrowDown" && back > 0) recall(-1);
    else if (event.key === "ArrowDown") setOpen(true);
    else if (event.key === "Tab" && completion && chosen >= 0 && !event.shiftKey) take(completion, chosen);
    else if (event.key === "Enter" && event.altKey) search(negatedAt(text, caret));
    else if (event.key === "Enter" && completion && chosen >= 0) take(completion, chosen);
    else if (event.key === "Escape" && list && open && text !== q) setOpen(false);
    else if (event.key === "Escape") {
      setOpen(false);
      input.current?.blur();
    } else return;
    event.preventDefault();
  };
  // The field scrolls by itself when the text is long; what is under it follows.
  useEffect(() => {
    if (under.current && input.current) under.current.scrollLeft = input.current.scrollLeft;
  });
  return (
    <div className="flex flex-col gap-2 py-3">
      <form
        role="search"
        className="flex gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          search(text);
        }}
      >
        <div className="relative min-w-0 grow">
          <Search size={14} className="pointer-events-none absolute top-2.25 left-2.5 text-muted" aria-hidden="true" />
          <input
            ref={input}
            role="combobox"
            data-page-search
            aria-label="Filter"
            aria-expanded={options.length > 0}
            aria-controls={id}
            aria-autocomplete="list"
            aria-activedescendant={chosen >= 0 ? `${id}-${chosen}` : undefined}
            aria-invalid={broken ? true : undefined}
            aria-describedby={problem?.position === undefined ? undefined : `${id}-problem`}
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            className="field w-full pr-8! pl-8! font-mono text-12"
            placeholder="state:dead queue:mail payload.user.plan:pro age<2h"
            value={text}
            onChange={(event) => {
              setText(event.target.value);
              setCaret(event.target.selectionStart ?? event.target.value.length);
              setChosen(-1);
              setOpen(true);
            }}
            onSelect={(event) => setCaret(event.currentTarget.selectionStart ?? 0)}
            onFocus={() => setOpen(true)}
            onBlur={() => setOpen(false)}
            onScroll={(event) => under.current?.scrollTo({ left: event.currentTarget.scrollLeft })}
            onKeyDown={onKeyDown}
          />
          {broken ? (
            <div ref={under} aria-hidden="true" className="pointer-events-none absolute inset-x-8 inset-y-0 overflow-hidden py-1.5 font-mono text-12 leading-5 whitespace-pre text-transparent">
              {q.slice(0, broken.from)}
              <span className="underline decoration-dead decoration-wavy decoration-2 underline-offset-3">{q.slice(broken.from, broken.to)}</span>
              {q.slice(broken.to)}
            </div>
          ) : null}
          {text ? (
            <button
              type="button"
              aria-label="Clear the filter"
              className="absolute top-1 right-1 flex size-6 items-center justify-center rounded-chip text-muted hover:text-text"
              onClick={() => {
                search("");
                input.current?.focus();
              }}
            >
              <X size={14} />
            </button>
          ) : null}
          <div id={id} role="listbox" aria-label="Suggestions" hidden={options.length === 0} className="appearing absolute top-full left-6 z-20 mt-1 min-w-72 rounded border border-line-strong bg-raised p-1">
            {options.map((option, index) => (
              <div
                key={option.text}
                id={`${id}-${index}`}
                role="option"
                aria-selected={index === chosen}
                className={`flex min-h-7 cursor-default items-center gap-4 rounded-chip px-2 ${index === chosen ? "bg-accent/15" : "hover:bg-accent/8"}`}
                onPointerDown={(event) => {
                  // The field keeps the focus.
                  event.preventDefault();
                  if (completion) take(completion, index);
                }}
              >
                <code className="text-12">{option.text}</code>
                <span className="ml-auto text-12 text-muted">{option.about}</span>
              </div>
            ))}
          </div>
        </div>
        <Button type="submit">Search</Button>
      </form>
      {problem?.position === undefined ? null : (
        <div id={`${id}-problem`} role="alert" className="text-12">
          {problem.detail.replace(/; expected [^;]*$/, "")}.
          {problem.expected.length > 0 ? <span className="text-muted"> Expected: {problem.expected.join(", ")}.</span> : null}
        </div>
      )}
      <Chips q={q} onSearch={search} />
    </div>
  );
}

/** The conditions of the filter that holds, each to be taken out or turned round. */
function Chips({ q, onSearch }: { q: string; onSearch: (q: string) => void }) {
  const terms = termsOf(q);
  if (terms.length < 2 || !isPlain(terms)) return null;
  return (
    <ul aria-label="Conditions" className="flex flex-wrap gap-1.5">
      {terms.map((term, index) => (
        <li key={term.from}>
          <Chip onRemove={() => onSearch(without(q, index))} removeLabel={`Remove ${term.text}`}>
            <button type="button" className="min-h-5 max-w-80 truncate font-mono text-12 hover:text-accent" title={term.negated ? "Must hold again" : "Must not hold"} aria-label={`Negate ${term.text}`} onClick={() => onSearch(opposite(q, index))}>
              {term.text}
            </button>
          </Chip>
        </li>
      ))}
    </ul>
  );
}

function negatedAt(text: string, caret: number): string {
  const terms = termsOf(text);
  const index = terms.findIndex((term) => caret >= term.from && caret <= term.to);
  return index < 0 ? text : opposite(text, index);
}

/** Names that exist, once somebody writes a filter; paths of payloads from a few jobs, once somebody asks for them. */
function useKnown(open: boolean, wantsPaths: boolean): Known {
  const byKind = useQuery({ ...kindCounts(), enabled: open }).data;
  const workerNames = useQuery({ ...workers(), enabled: open }).data?.items;
  const allowed = useMay("read_payload");
  const paths = useQuery({
    queryKey: ["payload-paths"],
    queryFn: async ({ signal }) => {
      const page = await api.get("/v1/jobs", { query: { limit: 50, include: "payload" }, signal });
      return pathsOf(page.items.map((item) => (item as { payload?: unknown }).payload));
    },
    enabled: open && wantsPaths && allowed,
    staleTime: 60_000,
  }).data;
  return useMemo(
    () => ({
      queue: [...new Set(byKind?.map((each) => each.queue))].sort(),
      kind: [...new Set(byKind?.map((each) => each.kind))].sort(),
      worker: [...new Set(workerNames?.map((each) => each.name) ?? [])],
      paths: paths ?? [],
    }),
    [byKind, workerNames, paths],
  );
}
