import { type JSX, useCallback, useEffect, useRef, useState } from "react";
import type { Diff, ShownCode } from "./code-editor.ts";
import { Failure } from "./states.tsx";
import { UntrustedText } from "./untrusted-text.tsx";

/** Shows an editor in the returned element. The editor is loaded on first use. `show` must be memoised. */
function useEditor(show: (editor: typeof import("./code-editor.ts"), host: HTMLElement) => { destroy(): void }) {
  const host = useRef<HTMLDivElement>(null);
  const [isShown, setShown] = useState(false);
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    let view: { destroy(): void } | undefined;
    let isGone = false;
    import("./code-editor.ts")
      .then((editor) => {
        if (isGone || !host.current) return;
        view = show(editor, host.current);
        setShown(true);
      })
      .catch(setError);
    return () => {
      isGone = true;
      view?.destroy();
    };
  }, [show]);
  return { host, isShown, error };
}

/** Code with syntax colours. The lines are plain until the editor is loaded, and stay plain if it cannot be loaded. */
export function CodeView(shown: ShownCode): JSX.Element {
  const { code, label, first, marked, note } = shown;
  const { host, isShown } = useEditor(
    useCallback(
      ({ showCode }, root) => showCode(root, { code, label, first, marked, note }),
      [code, label, first, marked, note],
    ),
  );
  return (
    <>
      {!isShown && <CodeLines {...shown} />}
      <div ref={host} className="code-diff well" hidden={!isShown} />
    </>
  );
}

/** The difference of two texts. */
export function CodeDiff({ before, after, label }: Diff): JSX.Element {
  const { host, error } = useEditor(
    useCallback(({ showDiff }, root) => showDiff(root, { before, after, label }), [before, after, label]),
  );
  if (error) return <Failure error={error} />;
  return <div ref={host} className="code-diff well" />;
}

/** Numbered lines of code. `note` is shown below the line `marked`. */
export function CodeLines({ code, first = 1, marked, note }: Omit<ShownCode, "label">): JSX.Element {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll it
    <ol className="code-lines well" tabIndex={0} style={{ counterReset: `line ${first - 1}` }}>
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
