import { templateParts } from "@nova/workflow";
import { shellWord } from "@nova/workflow/shell-word";
import type { Context } from "../../context/context.ts";
import { asReference } from "../../context/references.ts";
import type { BlobRef } from "../../ports/blobs.ts";
import type { WaitingTask } from "../../ports/tasks.ts";

/** The limits in characters for a value inside a message, and for a whole message. */
const longestValue = 500;
const longestMessage = 4000;

/** The text for people, or the reason why it cannot be built. */
type Message = { text: string } | { problem: string };

/** Fills a template from the context: texts unchanged, other values as JSON text. `mask` hides secrets. */
export function renderMessage(template: string, context: Context, mask: (text: string) => string): Message {
  const texts: string[] = [];
  for (const part of templateParts(template)) {
    if (part.kind === "text") {
      texts.push(part.text);
      continue;
    }
    const json = context.get(part.path);
    if (json === undefined) {
      const advice = "have a node before it set the key, or correct the path";
      return { problem: `its message names {{${part.path}}}, which the context does not have - ${advice}` };
    }
    texts.push(cut(mask(shown(json)), longestValue));
  }
  return { text: cut(mask(texts.join("")), longestMessage) };
}

function shown(json: string): string {
  const value: unknown = JSON.parse(json);
  if (typeof value === "string") return value;
  const ref = value !== null && typeof value === "object" ? asReference(value) : undefined;
  return ref ? `(${sizeOf(ref)})` : json;
}

function sizeOf({ bytes, type }: BlobRef): string {
  const kilobytes = Math.ceil(bytes / 1024);
  return `${type === "bytes" ? "a file" : "a value"} of ${kilobytes} KB`;
}

function cut(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
}

/** The command that answers this task and no later one. Several choices are joined by `|`. */
export function approveCommand(
  { id, choices }: Pick<WaitingTask, "id" | "choices">,
  offered: readonly string[] = choices,
): string {
  return `nova approve ${id} --choice ${offered.map(shellWord).join("|")}`;
}
