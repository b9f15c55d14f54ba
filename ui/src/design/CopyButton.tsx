/** Copies a text, over plain HTTP as well, where browsers have no clipboard API. */
import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { Button } from "./Button";

export async function copyText(text: string): Promise<boolean> {
  if (navigator.clipboard && isSecureContext) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // Refused by the browser: the old way may still work.
    }
  }
  const area = document.createElement("textarea");
  area.value = text;
  area.readOnly = true;
  area.className = "fixed top-0 opacity-0";
  // Inside a dialog the focus is held there, so that is where the text must be.
  const home = document.activeElement?.closest("[role=dialog]") ?? document.body;
  const before = document.activeElement;
  home.append(area);
  area.select();
  // Deprecated, and the only way without a secure context.
  const copied = document.execCommand("copy");
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  return copied;
}

export function CopyButton({ text, label = "Copy", children }: { text: string | (() => string); label?: string; children?: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <Button
      look="quiet"
      small
      aria-label={copied ? "Copied" : label}
      title={label}
      icon={copied ? <Check size={13} className="text-succeeded" /> : <Copy size={13} />}
      onClick={async (event) => {
        event.stopPropagation();
        setCopied(await copyText(typeof text === "function" ? text() : text));
      }}
    >
      {children}
    </Button>
  );
}

/** What to type for the same thing in a terminal. */
export function CliLine({ command }: { command: string }) {
  return (
    <div className="flex items-center gap-2 rounded border border-line bg-canvas pr-1 pl-2.5">
      <span className="text-muted select-none" aria-hidden="true">
        $
      </span>
      <div role="region" aria-label={`Command: ${command}`} tabIndex={0} className="min-w-0 grow overflow-x-auto py-1.5 text-12 whitespace-nowrap">
        <code>{command}</code>
      </div>
      <CopyButton text={command} label="Copy as CLI" />
    </div>
  );
}

/** Quotes a word for a POSIX shell, if it must be. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
