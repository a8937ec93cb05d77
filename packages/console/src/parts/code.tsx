import { type JSX, useEffect, useRef, useState } from "react";
import type { Diff } from "./code-editor.ts";
import { Failure } from "./states.tsx";
import { UntrustedText } from "./untrusted-text.tsx";
import "./code.css";

/** Code with syntax colours. The editor is loaded on first use; until then the lines are plain. */
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
      // The plain lines stay if the editor cannot be loaded.
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

/** The difference of two texts. The editor is loaded on first use. */
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

/** Numbered lines of code. `note` is shown below the line `marked`. */
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
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll it
    <ol className="code-lines" tabIndex={0}>
      {code
        .replace(/\n$/, "")
        .split("\n")
        .map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line is identified by its number
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
