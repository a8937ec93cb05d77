import { type JSX, useState } from "react";
import { texts } from "../texts.ts";
import { IconButton } from "./button.tsx";

const shownMs = 1_500;

/** Copies a text, and knows for a moment that it has. */
export function useCopy(): { isCopied: boolean; copy(text: string): Promise<void> } {
  const [isCopied, setCopied] = useState(false);
  const copy = async (text: string) => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), shownMs);
  };
  return { isCopied, copy };
}

export function CopyButton({ text }: { text: string }): JSX.Element {
  const { isCopied, copy } = useCopy();
  return (
    <IconButton
      icon={isCopied ? "check" : "copy"}
      label={isCopied ? texts.common.copied : texts.common.copy}
      onClick={() => copy(text)}
    />
  );
}
