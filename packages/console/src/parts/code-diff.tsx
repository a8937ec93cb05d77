import { type JSX, useEffect, useRef, useState } from "react";
import type { Diff } from "./diff-editor.ts";
import { Failure } from "./states.tsx";
import "./code-diff.css";

/** The difference of two texts of code. The editor that shows it is loaded with the first one. */
export function CodeDiff({ before, after, label }: Diff): JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    let end = () => {};
    let isGone = false;
    import("./diff-editor.ts")
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
