import { useMutation } from "@tanstack/react-query";
import {
  createContext,
  type FormEvent,
  type JSX,
  type ReactNode,
  useContext,
  useEffect,
  useId,
  useRef,
  useState,
} from "react";
import { createPortal } from "react-dom";
import { texts } from "../texts.ts";
import { Button, type ButtonProps, IconButton } from "./button.tsx";
import { TextField } from "./field.tsx";
import { ErrorNote } from "./states.tsx";
import { UntrustedText } from "./untrusted-text.tsx";

const CloseContext = createContext<() => void>(() => undefined);

/** Surrounds an open dialog. The value closes the dialog. */
export const OpenDialog = CloseContext.Provider;

/** Returns the function that closes the dialog around the component. */
export function useClose(): () => void {
  return useContext(CloseContext);
}

/** A button that closes the dialog around it. */
export function CloseButton({ label = texts.common.close, tone }: { label?: string; tone?: "main" }): JSX.Element {
  return (
    <Button tone={tone} onClick={useClose()}>
      {label}
    </Button>
  );
}

interface DialogProps {
  title: string;
  children: ReactNode;
  actions?: ReactNode;
  /** Whether the content needs more width than a form. */
  isWide?: boolean;
}

/**
 * A native modal dialog. The focus stays inside, and Escape closes the dialog. The dialog is a child of `body`, so that
 * it inherits no style from the button that opens it.
 */
export function Dialog({ title, children, actions, isWide = false }: DialogProps): JSX.Element {
  const close = useClose();
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
        close();
      }}
    >
      <header className="row between">
        <h2 id={titleId}>
          <UntrustedText text={title} />
        </h2>
        <IconButton icon="cross" label={texts.common.close} onClick={close} />
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
  dialog: ReactNode;
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
      {isOpen && <OpenDialog value={() => setOpen(false)}>{dialog}</OpenDialog>}
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
  children: ReactNode;
}

/** A dialog that contains a form. If `onSubmit` fails, the dialog stays open and shows the error. */
export function FormDialog(props: FormDialogProps): JSX.Element {
  const { title, action = title, tone = "main", isIncomplete, isSecret, staysOpen, onSubmit } = props;
  const form = useId();
  const close = useClose();
  const request = useMutation({ mutationFn: onSubmit });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // If the user has closed this dialog meanwhile, the query client does not call `onSuccess`.
    request.mutate(undefined, { onSuccess: () => !staysOpen && close() });
  };
  return (
    <Dialog
      title={title}
      actions={
        <>
          <CloseButton label={texts.common.cancel} />
          <Button submit form={form} tone={tone} disabled={request.isPending || isIncomplete}>
            {action}
          </Button>
        </>
      }
    >
      <form id={form} className="stack loose" autoComplete={isSecret ? "off" : undefined} onSubmit={submit}>
        {props.children}
        <ErrorNote error={request.error} />
      </form>
    </Dialog>
  );
}

interface ConfirmDialogProps extends Pick<FormDialogProps, "title"> {
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

interface ConfirmButtonProps extends Omit<DialogButtonProps, "dialog" | "title">, Omit<ConfirmDialogProps, "action"> {
  /** The label of the button in the dialog; default: the label of the button that opens it. */
  action?: string;
}

/** A button whose action needs a confirmation. */
export function ConfirmButton(props: ConfirmButtonProps): JSX.Element {
  const { title, hint, action = props.label, requiredText, onConfirm, ...button } = props;
  const confirm = { title, hint, action, onConfirm, ...(requiredText !== undefined && { requiredText }) };
  return <DialogButton {...button} dialog={<ConfirmDialog {...confirm} />} />;
}
