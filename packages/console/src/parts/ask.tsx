import { type FormEvent, type JSX, type ReactNode, useId } from "react";
import { texts } from "../texts.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Trouble } from "./trouble.tsx";

interface AskProps {
  /** On the button, too. */
  title: string;
  isPending: boolean;
  error: unknown;
  onSubmit(): void;
  onClose(): void;
  children: ReactNode;
}

/** A dialog with a form. */
export function Ask({ title, isPending, error, onSubmit, onClose, children }: AskProps): JSX.Element {
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
          <Button submit form={form} tone="main" disabled={isPending}>
            {title}
          </Button>
        </>
      }
    >
      <form id={form} className="form" onSubmit={submit}>
        {children}
        <Trouble error={error} />
      </form>
    </Dialog>
  );
}
