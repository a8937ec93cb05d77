import { randomInt } from "node:crypto";
import { createInterface } from "node:readline/promises";
import { stripVTControlCharacters, styleText } from "node:util";
import { type ExitCode, exitCodes } from "../errors.ts";

/**
 * Matches control characters of terminals: C0 except line feed and tab, DEL, C1, and characters that change the
 * direction of text.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that a terminal acts on
const controlCharacters = /[\0-\b\v-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;

/**
 * The mark with which each colour code that NOVA itself adds begins. The mark is random, so no other text contains it.
 * It has the form of a colour code that no terminal knows. So functions that strip colours or count characters treat
 * the mark as a colour code.
 */
const colourMark = `\u001b[${[1, 2, 3].map(() => `${randomInt(1_000, 10_000)};`).join("")}`;

/** Works like Node's `styleText`. `print` keeps these colours and removes all others. */
export function styled(format: Parameters<typeof styleText>[0], text: string): string {
  const [open = "", close = ""] = styleText(format, "|").split("|");
  return `${open.replaceAll("\u001b[", colourMark)}${text}${close.replaceAll("\u001b[", colourMark)}`;
}

/**
 * Makes a text harmless for a terminal, and keeps the colours that NOVA itself has added. Removes escape sequences, and
 * makes other control characters visible, such as `\x1b`.
 */
export function sanitize(text: string): string {
  const parts = text.replaceAll("\r\n", "\n").split(colourMark);
  return parts.map((part) => stripVTControlCharacters(part).replace(controlCharacters, escapeOf)).join(colourMark);
}

/** Returns the text that is written to the terminal: it replaces the marks of NOVA's colours by real colour codes. */
export function toTerminal(text: string): string {
  return sanitize(text).replaceAll(colourMark, "\u001b[");
}

function escapeOf(character: string): string {
  const code = character.charCodeAt(0);
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16)}`;
}

/**
 * Prints a text to standard output, without its control characters. Every command uses this function, because most
 * output contains texts of servers, sandboxes, records and files.
 */
export function print(text: string, isJson: unknown = false): void {
  printWaiting();
  console.log(printable(text, isJson));
}

function printable(text: string, isJson: unknown): string {
  // In JSON, control characters are written as JSON's own escapes.
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return isJson ? text.replace(controlCharacters, escaped) : toTerminal(text);
}

const waiting: string[] = [];

/** The longest delay of a printed text in milliseconds. A person does not notice this delay. */
const longestWait = 20;

/**
 * Prints a text together with other texts, after `longestWait` at the latest. The function joins texts, because each
 * write to a pipe stops the whole process for a moment.
 */
export function printSoon(text: string, isJson: unknown = false): void {
  if (waiting.push(printable(text, isJson)) > 1) return;
  process.once("exit", printWaiting);
  setTimeout(printWaiting, longestWait);
}

function printWaiting(): void {
  if (waiting.length === 0) return;
  process.off("exit", printWaiting);
  console.log(waiting.splice(0).join("\n"));
}

export interface CommandOutput {
  /** An object, or its JSON text. */
  json: object | string;
  text: string | readonly string[];
  /** The exit code; absent: the exit code of a completed command. */
  code?: ExitCode;
}

export function printOutput({ json, text, code = exitCodes.completed }: CommandOutput, isJson: unknown): ExitCode {
  if (isJson) print(typeof json === "string" ? json : JSON.stringify(json), true);
  else print([text].flat().join("\n"));
  return code;
}

/** Writes bytes to a pipe or a file. It returns false and writes nothing if standard output is a terminal. */
export function printBytes(bytes: Uint8Array): boolean {
  if (process.stdout.isTTY) return false;
  process.stdout.write(bytes);
  return true;
}

/** Replaces the line of the cursor on standard error, which must be a terminal. An empty text removes the line. */
export function printStatus(text: string): void {
  process.stderr.write(`\r\u001b[K${toTerminal(text)}`);
}

/** Prints a text to standard error, without its control characters. Every command uses this function. */
export function printError(text: string): void {
  console.error(toTerminal(text));
}

/**
 * Makes this process print Node's warnings without control characters, because warnings may quote texts of others. If
 * an option of Node turns warnings off, they stay off.
 */
export function printWarnings(): void {
  if (process.listenerCount("warning") === 0) return;
  process.removeAllListeners("warning");
  process.on("warning", ({ name, message }) => printError(`(node:${process.pid}) ${name}: ${message}`));
}

export interface Asking {
  isInteractive: boolean;
  /** Asks the user, and returns whether the answer is yes. `emptyMeans` is the meaning of an empty line. */
  ask(question: string, emptyMeans?: "yes" | "no"): Promise<boolean>;
}

export const thisTerminal: Asking = {
  get isInteractive() {
    return process.stdin.isTTY === true && process.stderr.isTTY === true && !process.env.CI;
  },
  async ask(question, unsaid = "yes") {
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    try {
      const answer = (await lines.question(`${question} ${unsaid === "yes" ? "[Y/n]" : "[y/N]"} `)).trim();
      return /^y(es)?$/i.test(answer || unsaid);
    } finally {
      lines.close();
    }
  },
};

/** Asks nothing and always answers no, for commands whose output a program reads. */
export const noTerminal: Asking = { isInteractive: false, ask: async () => false };
