import type { JSX } from "react";
import { Foreign } from "./foreign.tsx";
import "./code-lines.css";

/** Lines of code with their numbers; one of them may be marked, with what is to be said of it. */
export function CodeLines({
  code,
  marked,
  note,
}: {
  code: string;
  marked?: number | undefined;
  note?: string | undefined;
}): JSX.Element {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is scrolled by keys, too
    <ol className="code-lines" tabIndex={0}>
      {code
        .replace(/\n$/, "")
        .split("\n")
        .map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line is its number
          <li key={index} data-marked={index + 1 === marked || undefined}>
            <code>
              <Foreign text={line} />
            </code>
            {index + 1 === marked && note && (
              <span className="code-note">
                <Foreign text={note} />
              </span>
            )}
          </li>
        ))}
    </ol>
  );
}
