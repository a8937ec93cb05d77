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

async function readText(file: string): Promise<string> {
  const bytes = await readBytes(file);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new InvalidInput(`context file "${file}" is not UTF-8 text - pass bytes with --file key=${file}`, { cause });
  }
}

async function readBytes(file: string): Promise<Buffer> {
  try {
    await using handle = await open(file);
    const { size } = await handle.stat();
    if (size > limitBytes) throw tooLarge(file, size);
    return await handle.readFile();
  } catch (cause) {
    if (cause instanceof InvalidInput) throw cause;
    throw new InvalidInput(`context file "${file}" cannot be read - name a readable JSON file`, { cause });
  }
}

function tooLarge(file: string, size: number): InvalidInput {
  const advice = "pass what is large with --file key=path";
  return new InvalidInput(
    `context file "${file}" has ${size} bytes, at most ${limitBytes} (64 MB) are read - ${advice}`,
  );
}

function membersIn(text: string, file: string): Member[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const reason = (cause as SyntaxError).message.split("\n")[0];
    throw new InvalidInput(`context file "${file}" is not JSON (${reason}) - correct it`, { cause });
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new InvalidInput(`context file "${file}" holds no JSON object - write {"key": value}`);
  }
  return membersOf(text);
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
