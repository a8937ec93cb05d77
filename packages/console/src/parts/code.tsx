import { type JSX, useEffect, useRef, useState } from "react";
import type { Diff } from "./code-editor.ts";
import { Failure } from "./states.tsx";
import { UntrustedText } from "./untrusted-text.tsx";
import "./code.css";

/** Code in colours. The editor is loaded when the first one is shown; before, its lines are plain. */
export function CodeView({ code, label }: { code: string; label: string }): JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    let end = () => {};
    let isGone = false;
    import("./code-editor.ts").then(
      ({ showCode }) => {
        if (isGone || !host.current) return;
        const view = showCode(host.current, { code, label });
        end = () => view.destroy();
        setShown(true);
      },
      // The plain lines stay.
      () => undefined,
    );
    return () => {
      isGone = true;
      end();
    };
  }, [code, label]);
  return (
    <>
      {!isShown && <CodeLines code={code} />}
      <div ref={host} className="code-diff" hidden={!isShown} />
    </>
  );
}

/** The difference of two texts of code. The editor that shows it is loaded with the first one. */
export function CodeDiff({ before, after, label }: Diff): JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    let end = () => {};
    let isGone = false;
    import("./code-editor.ts")
      .then(({ showDiff }) => {
        if (isGone || !host.current) return;
        const view = showDiff(host.current, { before, after, label });
        end = () => view.destroy();
      })
      .catch(setError);
    return () => {
      isGone = true;
      end();
    };
  }, [before, after, label]);
  if (error) return <Failure error={error} />;
  return <div ref={host} className="code-diff" />;
}

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
              <UntrustedText text={line} />
            </code>
            {index + 1 === marked && note && (
              <span className="code-note">
                <UntrustedText text={note} />
              </span>
            )}
          </li>
        ))}
    </ol>
  );
}
