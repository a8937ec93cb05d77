import { type JSX, useEffect, useRef, useState } from "react";
import { CodeLines } from "./code-lines.tsx";
import "./code-diff.css";

/** Code in colours. The editor is loaded when the first one is shown; before, its lines are plain. */
export function CodeView({ code, label }: { code: string; label: string }): JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    let end = () => {};
    let isGone = false;
    import("./diff-editor.ts").then(
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
