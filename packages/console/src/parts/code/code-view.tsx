import { type JSX, useEffect, useRef, useState } from "react";
import { CodeLines } from "../code-lines.tsx";
import "./code-view.css";

interface CodeViewProps {
  code: string;
  /** What it was: what has changed is marked. */
  before?: string | undefined;
  label: string;
}

/** Characters that the editor shows as they are, and that turn a line around or hide in it. */
const steering = /[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/;

/** Code in colours. The editor is loaded when the first one is shown; before, and of code that hides something, lines are plain. */
export function CodeView({ code, before, label }: CodeViewProps): JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  const [isShown, setShown] = useState(false);
  const isPlain = steering.test(code);
  useEffect(() => {
    if (isPlain || !host.current) return undefined;
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: "open" });
    let close = () => {};
    let isGone = false;
    import("./editor.ts").then(
      ({ showCode }) => {
        if (isGone) return;
        close = showCode(root, { code, before, label });
        setShown(true);
      },
      () => undefined,
    );
    return () => {
      isGone = true;
      close();
    };
  }, [code, before, label, isPlain]);
  return (
    <div className="code-view">
      {!isShown && <CodeLines code={code} />}
      {!isPlain && <div ref={host} hidden={!isShown} />}
    </div>
  );
}
