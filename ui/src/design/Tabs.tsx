/** Tabs over panels of one thing. Where a tab is a place of its own, use links. */
import * as Radix from "@radix-ui/react-tabs";
import type { ReactNode } from "react";

export interface Tab {
  id: string;
  label: ReactNode;
  content: ReactNode;
}

export function Tabs({ label, tabs, value, onChange }: { label: string; tabs: readonly Tab[]; value: string; onChange: (id: string) => void }) {
  return (
    <Radix.Root value={value} onValueChange={onChange} className="flex min-h-0 flex-col">
      <Radix.List aria-label={label} className="flex gap-1 overflow-x-auto border-b border-line">
        {tabs.map((tab) => (
          <Radix.Trigger
            key={tab.id}
            value={tab.id}
            className="-mb-px h-8 border-b-2 border-transparent px-2.5 text-13 whitespace-nowrap text-muted hover:text-text data-[state=active]:border-accent data-[state=active]:text-text"
          >
            {tab.label}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map((tab) => (
        <Radix.Content key={tab.id} value={tab.id} className="min-h-0 grow pt-3">
          {tab.content}
        </Radix.Content>
      ))}
    </Radix.Root>
  );
}
