import { type FormEvent, type JSX, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { texts } from "../texts.ts";
import { Button, IconButton } from "./button.tsx";
import { TextField } from "./field.tsx";
import { ErrorNote } from "./states.tsx";
import { UntrustedText } from "./untrusted-text.tsx";
import "./dialog.css";

interface DialogProps {
  title: string;
  children: ReactNode;
  actions?: ReactNode;
  onClose(): void;
}

/** A native modal dialog. It keeps the focus inside, and Escape closes it. */
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
          <UntrustedText text={title} />
        </h2>
        <IconButton icon="cross" label={texts.common.close} onClick={onClose} />
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll it */}
      <div className="dialog-body" tabIndex={0} role="group" aria-labelledby={titleId}>
        {children}
      </div>
      {actions && <footer className="dialog-actions">{actions}</footer>}
    </dialog>
  );
}

interface AskProps {
  title: string;
  /** The label of the button; default: the title. */
  action?: string;
  tone?: "main" | "danger";
  /** Whether the form is incomplete or being sent. */
  isPending: boolean;
  /** Whether browsers must not remember the input. */
  isSecret?: boolean;
  error: unknown;
  onSubmit(): void;
  onClose(): void;
  children: ReactNode;
}

/** A dialog that contains a form. */
export function FormDialog({
  title,
  action = title,
  tone = "main",
  isPending,
  isSecret,
  error,
  onSubmit,
  onClose,
  children,
}: AskProps): JSX.Element {
  const form = useId();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{texts.common.cancel}</Button>
          <Button submit form={form} tone={tone} disabled={isPending}>
            {action}
          </Button>
        </>
      }
    >
      <form id={form} className="form" autoComplete={isSecret ? "off" : undefined} onSubmit={submit}>
        {children}
        <ErrorNote error={error} />
      </form>
    </Dialog>
  );
}

interface ConfirmProps {
  title: string;
  /** The label of the button. */
  action: string;
  /** Text that the user must type first, for actions that cannot be undone. */
  requiredText?: string;
  children: ReactNode;
  onConfirm(): Promise<unknown>;
  onClose(): void;
}

/** Asks for confirmation. If the action fails, the dialog stays open and shows the error. */
export function ConfirmDialog({
  title,
  action: does,
  requiredText: typed,
  children,
  onConfirm: act,
  onClose,
}: ConfirmProps): JSX.Element {
  const [text, setText] = useState("");
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<unknown>();
  const isDangerous = typed !== undefined;
  const isOpen = useRef(true);
  useEffect(() => {
    isOpen.current = true;
    return () => {
      isOpen.current = false;
    };
  }, []);
  const run = async () => {
    setPending(true);
    try {
      await act();
      // A dialog that the user closed meanwhile must not close the next one.
      if (isOpen.current) onClose();
    } catch (cause) {
      setError(cause);
      setPending(false);
    }
  };
  return (
    <FormDialog
      title={title}
      error={error}
      onClose={onClose}
      action={does}
      tone={isDangerous ? "danger" : "main"}
      isPending={isPending || (isDangerous && text !== typed)}
      onSubmit={run}
    >
      {children}
      {isDangerous && <TextField label={texts.common.type(typed)} value={text} onChange={setText} />}
    </FormDialog>
  );
}
