/** A menu of actions under a button. Not modal: a modal one would write a style element, which the content policy refuses. */
import * as Radix from "@radix-ui/react-dropdown-menu";
import { Check } from "lucide-react";
import type { ReactNode } from "react";

const ITEM =
  "flex min-h-7 cursor-default items-center gap-2 rounded-chip px-2 py-1 text-13 outline-none select-none data-[disabled]:opacity-50 data-[highlighted]:bg-accent/15";

export function Menu({ trigger, children, align = "end", onOpenChange }: { trigger: ReactNode; children: ReactNode; align?: "start" | "end"; onOpenChange?: (open: boolean) => void }) {
  return (
    <Radix.Root modal={false} {...(onOpenChange ? { onOpenChange } : {})}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          align={align}
          sideOffset={4}
          collisionPadding={8}
          className="appearing z-50 max-h-[70vh] min-w-48 overflow-y-auto rounded border border-line-strong bg-raised p-1"
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

export function MenuItem({ onSelect, icon, hint, danger, disabled, children }: { onSelect: () => void; icon?: ReactNode; hint?: ReactNode; danger?: boolean; disabled?: boolean; children: ReactNode }) {
  return (
    <Radix.Item onSelect={onSelect} {...(disabled ? { disabled } : {})} className={ITEM}>
      <span className={`flex size-4 items-center justify-center ${danger ? "text-dead" : "text-muted"}`}>{icon}</span>
      <span className="grow">{children}</span>
      {hint ? <span className="pl-4 text-12 text-muted">{hint}</span> : null}
    </Radix.Item>
  );
}

export function MenuCheck({ checked, onChange, children }: { checked: boolean; onChange: (checked: boolean) => void; children: ReactNode }) {
  return (
    <Radix.CheckboxItem
      checked={checked}
      onCheckedChange={onChange}
      onSelect={(event) => event.preventDefault()}
      className={ITEM}
    >
      <span className="flex size-4 items-center justify-center">{checked ? <Check size={14} /> : null}</span>
      {children}
    </Radix.CheckboxItem>
  );
}

export function MenuChoice<T extends string>({ label, value, options, onChange }: { label: string; value: T; options: readonly (readonly [T, string])[]; onChange: (value: T) => void }) {
  return (
    <Radix.RadioGroup value={value} onValueChange={(chosen) => onChange(chosen as T)}>
      <MenuLabel>{label}</MenuLabel>
      {options.map(([option, text]) => (
        <Radix.RadioItem key={option} value={option} onSelect={(event) => event.preventDefault()} className={ITEM}>
          <span className="flex size-4 items-center justify-center">{option === value ? <Check size={14} /> : null}</span>
          {text}
        </Radix.RadioItem>
      ))}
    </Radix.RadioGroup>
  );
}

export const MenuLabel = ({ children }: { children: ReactNode }) => (
  <Radix.Label className="px-2 pt-1.5 pb-0.5 text-12 font-medium text-muted">{children}</Radix.Label>
);

export const MenuLine = () => <Radix.Separator className="my-1 h-px bg-line-strong" />;
