import { open } from "node:fs/promises";
import { jsonProblem, type Member, membersOf, objectText } from "@nova/engine";
import { utf8In } from "@nova/workflow";
import { InvalidInput, throwInvalid } from "../errors.ts";

/** Larger values belong in a file that is passed as bytes. */
const limitBytes = 64 * 1024 * 1024;

/**
 * Reads the context file and applies every `--set`, as JSON text, so that 12345678901234567890 and 850.0 stay exact.
 */
export async function readContext(file: string | undefined, settings: readonly string[]): Promise<string> {
  const members = file === undefined ? [] : membersOf(await readObjectFile(file));
  const all = [...members, ...settings.map(readSetting)];
  return objectText([...new Map(all.map((member) => [member.key, member])).values()]);
}

/** Reads the text of a file with a JSON object. Throws `InvalidInput`. */
export async function readObjectFile(file: string): Promise<string> {
  const text = await readJsonFile(file, "context");
  if (isObjectText(text)) return text;
  throw new InvalidInput(`context file "${file}" has no JSON object - write {"key": value}`);
}

/** Whether a JSON text is an object. */
export function isObjectText(json: string): boolean {
  return json.trimStart().startsWith("{");
}

/** Reads the text of a JSON file; `what` names the file in messages. */
export async function readJsonFile(file: string, what: string): Promise<string> {
  const bytes = await readBytes(file, what).catch(
    throwInvalid(`${what} file "${file}" cannot be read - name a readable JSON file`),
  );
  const isContext = what === "context";
  const advice = isContext ? `pass bytes with --file key=${file}` : "save it as UTF-8";
  const text = utf8(bytes, `${what} file "${file}" is not UTF-8 text - ${advice}`);
  try {
    JSON.parse(text);
  } catch (cause) {
    const reason = (cause as SyntaxError).message.split("\n")[0];
    throw new InvalidInput(`${what} file "${file}" is not JSON (${reason}) - correct it`, { cause });
  }
  refuseUnclear(text, `${what} file "${file}"`);
  return text;
}

/**
 * Refuses JSON that nodes cannot read, or could read in two ways: half a character, a name that occurs twice in an
 * object.
 */
function refuseUnclear(json: string, what: string): void {
  const problem = jsonProblem(json);
  if (problem !== undefined) throw new InvalidInput(`${what} ${problem} - correct it`);
}

async function readBytes(file: string, what: string): Promise<Buffer> {
  await using handle = await open(file);
  const { size } = await handle.stat();
  if (size <= limitBytes) return await handle.readFile();
  const advice = what === "context" ? "pass large values with --file key=path" : "make it smaller";
  const limit = `the limit is ${limitBytes} (64 MB)`;
  throw new InvalidInput(`${what} file "${file}" has ${size} bytes, ${limit} - ${advice}`);
}

/** Decodes UTF-8. Throws `InvalidInput` with the sentence if the bytes are not text. */
export function utf8(bytes: Uint8Array, sentence: string): string {
  const text = utf8In(bytes);
  if (text !== undefined) return text;
  throw new InvalidInput(sentence);
}

function readSetting(setting: string): Member {
  const [key, json] = splitPair(setting, "--set", "json");
  try {
    JSON.parse(json);
  } catch (cause) {
    const quoted = `--set ${key}='${JSON.stringify(json)}'`;
    throw new InvalidInput(`--set ${key}: ${json || "nothing"} is not JSON - for a text write ${quoted}`, { cause });
  }
  refuseUnclear(json, `--set ${key}: the value`);
  return { key, json: json.trim() };
}

/** Splits `key=value` of an option; the value may contain further `=`. */
export function splitPair(text: string, option: string, value: string): [key: string, value: string] {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidInput(`${option} ${text} is not ${option} key=${value} - use this form`);
  return [text.slice(0, at), text.slice(at + 1)];
}
