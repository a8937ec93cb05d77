import { isRawNumber } from "@nova/engine";
import { Placeholder } from "../schema/placeholder.ts";

/**
 * A value as one line of JSON that nothing in it can leave: no text of it contains a line break of any kind, `<`, `>`
 * or a backtick as such, so none can close a section, open a code fence, or pass for a token of a chat template. Only
 * placeholders, which the data cannot make, are written with their angle brackets.
 */
export function quoted(value: unknown): string {
  if (value instanceof Placeholder) return JSON.stringify(value.text);
  if (isRawNumber(value)) return value.rawJSON;
  if (typeof value === "string") return quotedText(value);
  if (Array.isArray(value)) return `[${value.map(quoted).join(", ")}]`;
  if (value !== null && typeof value === "object") {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    return `{${members.map(([key, member]) => `${quotedText(key)}: ${quoted(member)}`).join(", ")}}`;
  }
  return JSON.stringify(value) ?? "null";
}

/** Controls, separators that count as line breaks somewhere, invisible and direction-changing characters, markup. */
const unsafe = /[<>`\u007f-\u00a0\u00ad\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
/** Characters beyond the first plane that nobody sees: tags, and the variations of ideographs. */
const unseen = /[\u{e0000}-\u{e0fff}]/gu;
/** `[INST]` and its like are tokens of chat templates. */
const bracketToken = /\[(?=\/?[A-Z_]+\])/g;

function quotedText(text: string): string {
  return JSON.stringify(text).replace(unsafe, escaped).replace(unseen, escaped).replace(bracketToken, escaped);
}

function escaped(characters: string): string {
  return Array.from({ length: characters.length }, (_, index) => {
    return `\\u${characters.charCodeAt(index).toString(16).padStart(4, "0")}`;
  }).join("");
}
