/** Buttons are verbs with objects: "Replay 12 jobs". */
import type { ButtonHTMLAttributes, ReactNode, Ref } from "react";

type Look = "plain" | "primary" | "danger" | "quiet";

const LOOK: Record<Look, string> = {
  plain: "border border-line-strong bg-surface text-text hover:bg-raised",
  primary: "border border-transparent bg-accent text-on-accent font-medium hover:brightness-110",
  danger: "border border-transparent bg-dead text-on-dead font-medium hover:brightness-110",
  quiet: "border border-transparent text-muted hover:bg-raised hover:text-text",
};

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: Look;
  small?: boolean;
  icon?: ReactNode;
  /** Work is under way: the button stays where it is and cannot be pressed twice. */
  busy?: boolean;
  ref?: Ref<HTMLButtonElement>;
}

export function Button({ look = "plain", small, icon, busy, className, children, disabled, ref, ...rest }: ButtonProps) {
  const height = small ? "h-6 text-12" : "h-8 text-13";
  const width = children === undefined ? (small ? "w-6" : "w-8") : small ? "px-2" : "px-3";
  return (
    <button
      type="button"
      ref={ref}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
      className={`inline-flex shrink-0 items-center justify-center gap-1.5 rounded whitespace-nowrap transition-colors duration-100 disabled:opacity-50 ${height} ${width} ${LOOK[look]} ${className ?? ""}`}
      {...rest}
    >
      {icon}
      {children}
    </button>
  );
}
