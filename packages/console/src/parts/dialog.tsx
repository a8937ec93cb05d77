import { type FormEvent, type JSX, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { texts } from "../texts.ts";
import { Button, type ButtonProps, IconButton } from "./button.tsx";
import { TextField } from "./field.tsx";
import { ErrorNote } from "./states.tsx";
import { UntrustedText } from "./untrusted-text.tsx";

interface DialogProps {
  title: string;
  children: ReactNode;
  actions?: ReactNode;
  /** Whether the content needs more width than a form. */
  isWide?: boolean;
  onClose(): void;
}

/**
 * A native modal dialog. The focus stays inside, and Escape closes the dialog. The dialog is a child of `body`, so that
 * it inherits no style from the button that opens it.
 */
export function Dialog({ title, children, actions, isWide = false, onClose }: DialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const opened = dialog.current;
    opened?.showModal();
    opened?.querySelector<HTMLElement>(".dialog-body :is(input, select, textarea, .input)")?.focus();
    return () => opened?.close();
  }, []);
  return createPortal(
    <dialog
      ref={dialog}
      className={isWide ? "dialog dialog-wide" : "dialog"}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <header className="row between">
        <h2 id={titleId}>
          <UntrustedText text={title} />
        </h2>
        <IconButton icon="cross" label={texts.common.close} onClick={onClose} />
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll it */}
      <div className="dialog-body" tabIndex={0} role="group" aria-labelledby={titleId}>
        {children}
      </div>
      {actions && <footer className="row">{actions}</footer>}
    </dialog>,
    document.body,
  );
}

interface DialogButtonProps extends Omit<ButtonProps, "children" | "onClick"> {
  label: string;
  /** Whether only the icon is visible. */
  isIcon?: boolean;
  dialog(close: () => void): ReactNode;
}

/** A button that opens a dialog. */
export function DialogButton({ label, icon, isIcon, dialog, tone, ...attributes }: DialogButtonProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const open = () => setOpen(true);
  return (
    <>
      {isIcon && icon ? (
        <IconButton {...attributes} icon={icon} label={label} onClick={open} />
      ) : (
        <Button {...attributes} icon={icon} tone={tone} onClick={open}>
          {label}
        </Button>
      )}
      {isOpen && dialog(() => setOpen(false))}
    </>
  );
}

interface FormDialogProps {
  title: string;
  /** The label of the button; default: the title. */
  action?: string;
  tone?: "main" | "danger";
  isIncomplete?: boolean;
  /** Whether browsers must not remember the input. */
  isSecret?: boolean;
  /** Whether the dialog stays open after success. */
  staysOpen?: boolean;
  onSubmit(): Promise<unknown>;
  onClose(): void;
  children: ReactNode;
}

/** A dialog that contains a form. If `onSubmit` fails, the dialog stays open and shows the error. */
export function FormDialog(props: FormDialogProps): JSX.Element {
  const { title, action = title, tone = "main", isIncomplete, isSecret, staysOpen, onSubmit, onClose } = props;
  const form = useId();
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<unknown>();
  const isOpen = useRef(true);
  useEffect(() => {
    isOpen.current = true;
    return () => {
      isOpen.current = false;
    };
  }, []);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setPending(true);
    setError(undefined);
    try {
      await onSubmit();
      // If the user has closed this dialog meanwhile, `onClose` would close the next one.
      if (isOpen.current && !staysOpen) onClose();
    } catch (cause) {
      setError(cause);
    }
    setPending(false);
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{texts.common.cancel}</Button>
          <Button submit form={form} tone={tone} disabled={isPending || isIncomplete}>
            {action}
          </Button>
        </>
      }
    >
      <form id={form} className="stack loose" autoComplete={isSecret ? "off" : undefined} onSubmit={submit}>
        {props.children}
        <ErrorNote error={error} />
      </form>
    </Dialog>
  );
}

interface ConfirmDialogProps extends Pick<FormDialogProps, "title" | "onClose"> {
  action: string;
  hint: string;
  /** Text that the user must type first, for actions that cannot be undone. */
  requiredText?: string;
  onConfirm(): Promise<unknown>;
}

function ConfirmDialog({ hint, requiredText, onConfirm, ...dialog }: ConfirmDialogProps): JSX.Element {
  const [text, setText] = useState("");
  const isDangerous = requiredText !== undefined;
  return (
    <FormDialog
      {...dialog}
      tone={isDangerous ? "danger" : "main"}
      isIncomplete={isDangerous && text !== requiredText}
      onSubmit={onConfirm}
    >
      <p className="quiet">{hint}</p>
      {isDangerous && <TextField label={texts.common.type(requiredText)} value={text} onChange={setText} />}
    </FormDialog>
  );
}

interface ConfirmButtonProps
  extends Omit<DialogButtonProps, "dialog" | "title">,
    Omit<ConfirmDialogProps, "action" | "onClose"> {
  /** The label of the button in the dialog; default: the label of the button that opens it. */
  action?: string;
}

/** A button whose action needs a confirmation. */
export function ConfirmButton(props: ConfirmButtonProps): JSX.Element {
  const { title, hint, action = props.label, requiredText, onConfirm, ...button } = props;
  const confirm = { title, hint, action, onConfirm, ...(requiredText !== undefined && { requiredText }) };
  return <DialogButton {...button} dialog={(close) => <ConfirmDialog {...confirm} onClose={close} />} />;
}
