import { open } from "node:fs/promises";
import { type Member, membersOf, objectText } from "@nova/engine";
import { InvalidInput } from "../errors.ts";

/** More than that belongs in a file that is passed on as bytes. */
const limitBytes = 64 * 1024 * 1024;

/**
 * The initial context as JSON text: the file's, with every `--set key=json` over it. Values stay the text they were
 * written as, so that 12345678901234567890 and 850.0 arrive as such.
 */
export async function readContext(file: string | undefined, settings: readonly string[]): Promise<string> {
  const text = file === undefined ? "{}" : await readText(file);
  const members = file === undefined ? [] : membersIn(text, file);
  const set = settings.map(readSetting);
  const keys = new Set(set.map((member) => member.key));
  return objectText([...members.filter((member) => !keys.has(member.key)), ...set]);
}

/** The text of a file of any JSON value; `what` names it in sentences. */
export async function readJsonFile(file: string, what: string): Promise<string> {
  const text = await readText(file, what);
  parsed(text, file, what);
  return text;
}

async function readText(file: string, what = "context"): Promise<string> {
  const bytes = await readBytes(file, what);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    const advice = what === "context" ? `pass bytes with --file key=${file}` : "save it as UTF-8";
    throw new InvalidInput(`${what} file "${file}" is not UTF-8 text - ${advice}`, { cause });
  }
}

async function readBytes(file: string, what: string): Promise<Buffer> {
  try {
    await using handle = await open(file);
    const { size } = await handle.stat();
    if (size > limitBytes) throw tooLarge(file, size, what);
    return await handle.readFile();
  } catch (cause) {
    if (cause instanceof InvalidInput) throw cause;
    throw new InvalidInput(`${what} file "${file}" cannot be read - name a readable JSON file`, { cause });
  }
}

function tooLarge(file: string, size: number, what: string): InvalidInput {
  const advice = what === "context" ? "pass what is large with --file key=path" : "make it smaller";
  return new InvalidInput(
    `${what} file "${file}" has ${size} bytes, at most ${limitBytes} (64 MB) are read - ${advice}`,
  );
}

function membersIn(text: string, file: string): Member[] {
  const value = parsed(text, file, "context");
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new InvalidInput(`context file "${file}" holds no JSON object - write {"key": value}`);
  }
  return membersOf(text);
}

function parsed(text: string, file: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const reason = (cause as SyntaxError).message.split("\n")[0];
    throw new InvalidInput(`${what} file "${file}" is not JSON (${reason}) - correct it`, { cause });
  }
}

function readSetting(setting: string): Member {
  const [key, json] = splitPair(setting, "--set", "json");
  try {
    JSON.parse(json);
  } catch (cause) {
    const quoted = `--set ${key}='${JSON.stringify(json)}'`;
    throw new InvalidInput(`--set ${key}: ${json || "nothing"} is not JSON - for a text write ${quoted}`, { cause });
  }
  return { key, json: json.trim() };
}

/** `key=value` of an option; the value may hold further `=`. */
export function splitPair(text: string, option: string, value: string): [key: string, value: string] {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidInput(`${option} ${text} is not ${option} key=${value} - write it so`);
  return [text.slice(0, at), text.slice(at + 1)];
}
