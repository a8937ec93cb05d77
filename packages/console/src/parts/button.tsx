import { type ButtonHTMLAttributes, type JSX, type ReactNode, useState } from "react";
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
