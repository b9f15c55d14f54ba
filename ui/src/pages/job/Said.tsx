/** A sentence of the server: moments in the reader's zone, ids as links, commands as they are typed. */
import { Link } from "@tanstack/react-router";
import { Fragment, type ReactNode } from "react";
import { shortId, Time } from "@/design";
import { partsOf } from "./said";

export function Said({ text }: { text: string }): ReactNode {
  return partsOf(text).map((part, index) => {
    const key = `${index} ${part.text}`;
    switch (part.is) {
      case "text":
        return <Fragment key={key}>{part.text}</Fragment>;
      case "code":
        return <code key={key}>{part.text}</code>;
      case "time":
        return <Time key={key} at={part.text} />;
      case "job":
        return (
          <Link key={key} to="/jobs/$id" params={{ id: part.text }} className="font-mono text-12" title={part.text}>
            {shortId(part.text)}
          </Link>
        );
    }
  });
}
