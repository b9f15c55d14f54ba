/** A field of a form: its label, what it means, and what the server has against it. */
import { cloneElement, type ReactElement, useId } from "react";
import { Problem } from "@/api/problem";

interface Control {
  id?: string;
  "aria-invalid"?: boolean | undefined;
  "aria-describedby"?: string | undefined;
}

export function Field({ label, hint, error, children }: { label: string; hint?: string; error?: string | undefined; children: ReactElement<Control> }) {
  const id = useId();
  const told = error ?? hint;
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={id} className="text-12 font-medium text-muted">
        {label}
      </label>
      {cloneElement(children, { id, "aria-invalid": error ? true : undefined, "aria-describedby": told ? `${id}-told` : undefined })}
      {told ? (
        <div id={`${id}-told`} className={`text-12 ${error ? "border-l-2 border-dead pl-2 text-text" : "text-muted"}`}>
          {told}
        </div>
      ) : null}
    </div>
  );
}

/** What is wrong with this part of a request: `/limits/rate`. */
export function errorAt(thrown: unknown, ...pointers: string[]): string | undefined {
  if (!thrown) return undefined;
  return Problem.from(thrown).fields.find((field) => pointers.includes(field.pointer))?.detail;
}
