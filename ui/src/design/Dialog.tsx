/**
 * A modal dialog, and a drawer from the right.
 *
 * The overlay is a plain element and not Radix's own: that one writes a style element, which the content policy refuses.
 */
import * as Radix from "@radix-ui/react-dialog";
import { X } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "./Button";

interface Props {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  description?: ReactNode;
  children: ReactNode;
  footer?: ReactNode;
  /** Tailwind class for the width. */
  width?: string;
  /** It is only read: nothing in it takes the keyboard, so it does itself, to be scrolled. */
  readOnly?: boolean;
}

export function Dialog({ open, onOpenChange, title, description, children, footer, width = "max-w-lg", readOnly = false }: Props) {
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <div className="appearing fixed inset-0 z-40 bg-[#000]/50" aria-hidden="true" />
        <Radix.Content
          {...(description ? {} : { "aria-describedby": undefined })}
          className={`appearing fixed top-[12vh] left-1/2 z-50 flex max-h-[76vh] w-[calc(100vw-32px)] -translate-x-1/2 flex-col rounded border border-line-strong bg-raised ${width}`}
        >
          <header className="flex items-start gap-4 px-5 pt-4">
            <div className="grow">
              <Radix.Title className="text-16 font-semibold">{title}</Radix.Title>
              {description ? (
                <Radix.Description asChild>
                  <div className="mt-1 text-muted">{description}</div>
                </Radix.Description>
              ) : null}
            </div>
            <Radix.Close asChild>
              <Button look="quiet" small icon={<X size={14} />} aria-label="Close" />
            </Radix.Close>
          </header>
          <div className="min-h-0 grow overflow-y-auto px-5 py-4" {...(readOnly ? { tabIndex: 0, role: "region", "aria-label": title } : {})}>
            {children}
          </div>
          {footer ? <footer className="flex justify-end gap-2 border-t border-line px-5 py-3">{footer}</footer> : null}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** A modal drawer from the right, for forms. To look at things without losing the list, use the inspector. */
export function Drawer({ open, onOpenChange, title, description, children, footer, width = "w-[560px]" }: Props) {
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <div className="appearing fixed inset-0 z-40 bg-[#000]/40" aria-hidden="true" />
        <Radix.Content
          {...(description ? {} : { "aria-describedby": undefined })}
          className={`sliding fixed inset-y-0 right-0 z-50 flex max-w-full flex-col border-l border-line-strong bg-surface ${width}`}
        >
          <header className="flex items-start gap-4 border-b border-line px-5 py-3">
            <div className="grow">
              <Radix.Title className="text-16 font-semibold">{title}</Radix.Title>
              {description ? (
                <Radix.Description asChild>
                  <div className="text-muted">{description}</div>
                </Radix.Description>
              ) : null}
            </div>
            <Radix.Close asChild>
              <Button look="quiet" small icon={<X size={14} />} aria-label="Close" />
            </Radix.Close>
          </header>
          <div className="min-h-0 grow overflow-y-auto px-5 py-4">{children}</div>
          {footer ? <footer className="flex justify-end gap-2 border-t border-line px-5 py-3">{footer}</footer> : null}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
