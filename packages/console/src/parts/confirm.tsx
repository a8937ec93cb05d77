import { type JSX, type ReactNode, useEffect, useRef, useState } from "react";
import { texts } from "../texts.ts";
import { Ask } from "./ask.tsx";
import { TextField } from "./field.tsx";

interface ConfirmProps {
  title: string;
  /** On the button. */
  does: string;
  /** Has to be typed first: for what cannot be taken back. */
  typed?: string;
  children: ReactNode;
  act(): Promise<unknown>;
  onClose(): void;
}

/** Asks before it acts, and stays with the reason where that is refused. */
export function Confirm({ title, does, typed, children, act, onClose }: ConfirmProps): JSX.Element {
  const [text, setText] = useState("");
  const [isAtWork, setAtWork] = useState(false);
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
    setAtWork(true);
    try {
      await act();
      // Closed meanwhile, it must not close the dialog that was opened after it.
      if (isOpen.current) onClose();
    } catch (refused) {
      setError(refused);
      setAtWork(false);
    }
  };
  return (
    <Ask
      {...{ title, error, onClose }}
      action={does}
      tone={isDangerous ? "danger" : "main"}
      isPending={isAtWork || (isDangerous && text !== typed)}
      onSubmit={run}
    >
      {children}
      {isDangerous && <TextField label={texts.common.type(typed)} value={text} onChange={setText} />}
    </Ask>
  );
}
