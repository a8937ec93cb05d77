import { type JSX, type ReactNode, useEffect, useId, useRef } from "react";
import { texts } from "../texts.ts";
import { IconButton } from "./button.tsx";
import { Foreign } from "./foreign.tsx";
import "./dialog.css";

interface DialogProps {
  title: string;
  children: ReactNode;
  actions?: ReactNode;
  onClose(): void;
}

/** The browser's own modal dialog: it keeps the focus inside, and Escape closes it. */
export function Dialog({ title, children, actions, onClose }: DialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const opened = dialog.current;
    opened?.showModal();
    return () => opened?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className="dialog"
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <header className="dialog-head">
        <h2 id={titleId}>
          <Foreign text={title} />
        </h2>
        <IconButton icon="cross" label={texts.common.close} onClick={onClose} />
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what is longer than the dialog is reached by keys */}
      <div className="dialog-body" tabIndex={0} role="group" aria-labelledby={titleId}>
        {children}
      </div>
      {actions && <footer className="dialog-actions">{actions}</footer>}
    </dialog>
  );
}
