import { randomInt } from "node:crypto";
import { stripVTControlCharacters, styleText } from "node:util";
import { type ExitCode, exitCodes } from "../errors.ts";

/** C0 but line feed and tab, DEL, C1, and what turns the direction of a line around. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that a terminal acts on
const steering = /[\0-\b\v-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Our own colours begin with this. It is random, so that no text of others can have it; and it is a colour that no
 * terminal knows, so that whatever strips colours or counts letters treats it like one.
 */
const mark = `\u001b[${[1, 2, 3].map(() => `${randomInt(1_000, 10_000)};`).join("")}`;

/** `styleText` for what `print` prints: other colours than these are taken away there. */
export function styled(format: Parameters<typeof styleText>[0], text: string): string {
  const [open = "", close = ""] = styleText(format, "|").split("|");
  return `${open.replaceAll("\u001b[", mark)}${text}${close.replaceAll("\u001b[", mark)}`;
}

/**
 * What anybody may have written, with our marks in it: it moves no cursor and hides nothing. Sequences for terminals are
 * left out, everything else that steers one is shown: `\x1b`.
 */
export function harmless(text: string): string {
  const parts = text.replaceAll("\r\n", "\n").split(mark);
  return parts.map((part) => stripVTControlCharacters(part).replace(steering, escapeOf)).join(mark);
}

/** As a terminal gets it: marks are colours now. */
export function shown(text: string): string {
  return harmless(text).replaceAll(mark, "\u001b[");
}

function escapeOf(character: string): string {
  const code = character.charCodeAt(0);
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16)}`;
}

/** The one way to standard output: texts of servers, sandboxes, records and files are in most of what is printed. */
export function print(text: string, isJson: unknown = false): void {
  // JSON says the same with escapes of its own.
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  console.log(isJson ? text.replace(steering, escaped) : shown(text));
}

/** What a command has to say, of which one is printed. */
export interface Told {
  /** An object, or its JSON text. */
  json: object | string;
  /** For people; lines, where there are several. */
  text: string | readonly string[];
  /** Absent: completed. */
  code?: ExitCode;
}

export function printTold({ json, text, code = exitCodes.completed }: Told, isJson: unknown): ExitCode {
  if (isJson) print(typeof json === "string" ? json : JSON.stringify(json), true);
  else print([text].flat().join("\n"));
  return code;
}

/** Bytes as they are, for a pipe or a file. False, and nothing is written: standard output is a terminal. */
export function printBytes(bytes: Uint8Array): boolean {
  if (process.stdout.isTTY) return false;
  process.stdout.write(bytes);
  return true;
}

/** The one way to standard error. */
export function printError(text: string): void {
  console.error(shown(text));
}

/** Node prints warnings as they are, and they quote errors. Says nothing where Node was told to say nothing. */
export function printWarnings(): void {
  if (process.listenerCount("warning") === 0) return;
  process.removeAllListeners("warning");
  process.on("warning", ({ name, message }) => printError(`(node:${process.pid}) ${name}: ${message}`));
}
