/** Payloads and results: a tree that folds, or the bytes as they are. Takes text, because a parsed number has lost digits. */
import { ChevronDown, ChevronRight, EyeOff } from "lucide-react";
import { memo, useMemo, useState } from "react";
import { Button } from "./Button";
import { CopyButton } from "./CopyButton";
import { formatBytes } from "./format";
import { filterPath, type Node, parseJson, prettyJson, REDACTED } from "./json";
import { EmptyState } from "./parts";

/** More than this is shown only when somebody asks. */
const LARGE_BYTES = 256 * 1024;
/** Children of one value that are drawn at once. */
const MOST_CHILDREN = 200;

interface Props {
  /** JSON as the server sent it. */
  text: string;
  /** What it is: `payload` or `result`. */
  label: string;
  /** What an empty text means. */
  empty?: string;
  /** Called with `payload.user.plan` and the value's text: turns a value into a filter. */
  onFilter?: (path: string, value: string) => void;
}

export function CodeView({ text, label, empty, onFilter }: Props) {
  const [raw, setRaw] = useState(false);
  const [large, setLarge] = useState(false);
  const bytes = useMemo(() => new TextEncoder().encode(text).length, [text]);
  const hidden = bytes > LARGE_BYTES && !large;
  const node = useMemo(() => (hidden ? undefined : read(text)), [text, hidden]);
  if (text === "") return <EmptyState title={empty ?? `There is no ${label}`} />;
  return (
    <div className="panel flex min-h-0 flex-col">
      <div className="flex items-center gap-2 border-b border-line px-2 py-1 text-12 text-muted">
        <span>{formatBytes(bytes)}</span>
        {node === undefined && !hidden ? <span>not JSON</span> : null}
        <span className="ml-auto" />
        {node ? (
          <Button small look="quiet" aria-pressed={raw} onClick={() => setRaw(!raw)}>
            {raw ? "Tree" : "Raw"}
          </Button>
        ) : null}
        <CopyButton text={text} label={`Copy ${label}`} />
      </div>
      {hidden ? (
        <div className="flex items-center gap-3 px-3 py-4">
          <span className="text-muted">Large: shown when asked for.</span>
          <Button small onClick={() => setLarge(true)}>
            Show {formatBytes(bytes)}
          </Button>
        </div>
      ) : (
        <div className="min-h-0 overflow-auto p-2 font-mono text-12" tabIndex={0} role="region" aria-label={label}>
          {raw || !node ? (
            <pre className="break-all whitespace-pre-wrap">{node ? prettyJson(node) : text}</pre>
          ) : (
            <Tree node={node} path={[]} root={label} onFilter={onFilter} />
          )}
        </div>
      )}
    </div>
  );
}

function read(text: string): Node | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

interface TreeProps {
  node: Node;
  name?: string;
  path: readonly string[];
  root: string;
  onFilter: Props["onFilter"];
}

const Tree = memo(function Tree({ node, name, path, root, onFilter }: TreeProps) {
  const [open, setOpen] = useState(path.length < 2);
  const [most, setMost] = useState(MOST_CHILDREN);
  const label = name === undefined ? null : <span className="text-accent">{name}: </span>;
  if (node.type !== "object" && node.type !== "array") {
    const where = filterPath(root, path);
    return (
      <div className="flex items-baseline gap-1 pl-5">
        {label}
        <Leaf node={node} />
        {onFilter && path.length > 0 && isScalar(node) ? (
          <button type="button" className="text-12 text-muted opacity-0 group-hover:opacity-100 hover:text-accent focus-visible:opacity-100" aria-label={`Filter by ${where}`} onClick={() => onFilter(where, leafText(node))}>
            filter
          </button>
        ) : null}
      </div>
    );
  }
  const children =
    node.type === "object"
      ? node.entries.map((entry) => [entry.key, entry.value] as const)
      : node.items.map((item, index) => [String(index), item] as const);
  const [left, right] = node.type === "object" ? ["{", "}"] : ["[", "]"];
  if (children.length === 0) {
    return (
      <div className="pl-5">
        {label}
        {left}
        {right}
      </div>
    );
  }
  return (
    <div>
      <button type="button" aria-expanded={open} className="flex items-center gap-1 text-left hover:bg-raised" onClick={() => setOpen(!open)}>
        {open ? <ChevronDown size={14} className="text-muted" /> : <ChevronRight size={14} className="text-muted" />}
        <span>
          {label}
          {open ? left : <span className="text-muted">{`${left} ${children.length} ${children.length === 1 ? "entry" : "entries"} ${right}`}</span>}
        </span>
      </button>
      {open ? (
        <div className="ml-1.5 border-l border-line pl-2.5">
          {children.slice(0, most).map(([key, child], index) => (
            // Keys may be doubled, so the place is part of the identity.
            // eslint-disable-next-line react/no-array-index-key
            <div key={`${index}.${key}`} className="group">
              <Tree node={child} name={key} path={[...path, key]} root={root} onFilter={onFilter} />
            </div>
          ))}
          {children.length > most ? (
            <Button small look="quiet" onClick={() => setMost(most * 5)}>
              {`Show more of ${children.length}`}
            </Button>
          ) : null}
        </div>
      ) : null}
    </div>
  );
});

const isScalar = (node: Node) => node.type === "string" || node.type === "number" || node.type === "literal";

function leafText(node: Node): string {
  if (node.type === "string") return node.value;
  return node.type === "number" || node.type === "literal" ? node.text : "";
}

function Leaf({ node }: { node: Node }) {
  if (node.type === "string" && node.value === REDACTED) {
    return (
      <span className="inline-flex items-center gap-1 rounded-chip border border-dashed border-line-strong px-1 text-muted">
        <EyeOff size={12} aria-hidden="true" /> redacted
      </span>
    );
  }
  if (node.type === "string") return <span className="break-all whitespace-pre-wrap">{JSON.stringify(node.value)}</span>;
  return <span className="text-muted">{leafText(node)}</span>;
}
