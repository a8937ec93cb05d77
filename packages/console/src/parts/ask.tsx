import { type FormEvent, type JSX, type ReactNode, useId } from "react";
import { texts } from "../texts.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Trouble } from "./trouble.tsx";

interface AskProps {
  title: string;
  /** On the button; absent: the title. */
  action?: string;
  tone?: "main" | "danger";
  /** It cannot be sent, or is on its way. */
  isPending: boolean;
  /** What is typed is remembered by no browser. */
  isSecret?: boolean;
  error: unknown;
  onSubmit(): void;
  onClose(): void;
  children: ReactNode;
}

/** A dialog with a form. */
export function Ask({
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
        <Trouble error={error} />
      </form>
    </Dialog>
  );
}
