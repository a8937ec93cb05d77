import { type ButtonHTMLAttributes, type DragEvent, type JSX, type ReactNode, useRef, useState } from "react";
import { texts } from "../texts.ts";
import { Icon, type IconName } from "./icon.tsx";

type Given = Omit<ButtonHTMLAttributes<HTMLButtonElement>, "type" | "className">;

export interface ButtonProps extends Given {
  icon?: IconName | undefined;
  tone?: "plain" | "main" | "danger" | "ghost" | undefined;
  submit?: boolean;
  children: ReactNode;
}

export function Button({ icon, tone = "plain", submit = false, children, ...given }: ButtonProps): JSX.Element {
  return (
    <button {...given} type={submit ? "submit" : "button"} className={`button button-${tone}`}>
      {icon && <Icon name={icon} size={14} />}
      {children}
    </button>
  );
}

interface IconButtonProps extends Given {
  icon: IconName;
  label: string;
}

export function IconButton({ icon, label, ...given }: IconButtonProps): JSX.Element {
  return (
    <button {...given} type="button" className="icon-button" aria-label={label} title={label}>
      <Icon name={icon} />
    </button>
  );
}

const shownMs = 1_500;

/** Copies texts to the clipboard; `isCopied` is true for a moment afterwards. */
export function useCopy(): { isCopied: boolean; copy(text: string): Promise<void> } {
  const [isCopied, setCopied] = useState(false);
  const copy = async (text: string) => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), shownMs);
  };
  return { isCopied, copy };
}

interface CopyButtonProps {
  text: string | (() => string);
  icon?: IconName;
  label?: string;
}

export function CopyButton({ text, icon = "copy", label = texts.common.copy }: CopyButtonProps): JSX.Element {
  const { isCopied, copy } = useCopy();
  return (
    <IconButton
      icon={isCopied ? "check" : icon}
      label={isCopied ? texts.common.copied : label}
      onClick={() => copy(typeof text === "string" ? text : text())}
    />
  );
}

interface FileButtonProps {
  id?: string;
  /** The accessible name of the input. */
  label: string;
  /** The id of the element that describes the input. */
  about?: string | undefined;
  icon?: IconName;
  multiple?: boolean;
  onFiles(files: readonly File[]): void;
  children: ReactNode;
}

/** A button with which the user chooses files. */
export function FileButton({ id, label, about, icon, multiple, onFiles, children }: FileButtonProps): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        id={id}
        type="file"
        multiple={multiple}
        className="hidden-label"
        tabIndex={-1}
        aria-label={label}
        aria-describedby={about}
        onChange={({ target }) => onFiles(Array.from(target.files ?? []))}
      />
      <Button icon={icon} onClick={() => input.current?.click()}>
        {children}
      </Button>
    </>
  );
}

/** Returns whether the user drags over an element, and the attributes with which this element takes dropped files. */
export function useDrop(onFiles: (files: readonly File[]) => void) {
  const [isOver, setOver] = useState(false);
  const attributes = {
    onDragOver(event: DragEvent) {
      event.preventDefault();
      setOver(true);
    },
    onDragLeave: () => setOver(false),
    onDrop(event: DragEvent) {
      event.preventDefault();
      setOver(false);
      onFiles(Array.from(event.dataTransfer.files));
    },
  };
  return { isOver, attributes };
}
