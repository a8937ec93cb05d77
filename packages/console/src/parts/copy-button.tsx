import { type JSX, useState } from "react";
import { texts } from "../texts.ts";
import { IconButton } from "./button.tsx";

const shownMs = 1_500;

export function CopyButton({ text }: { text: string }): JSX.Element {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), shownMs);
  };
  return (
    <IconButton
      icon={isCopied ? "check" : "copy"}
      label={isCopied ? texts.common.copied : texts.common.copy}
      onClick={copy}
    />
  );
}
