import { open } from "node:fs/promises";
import { jsonProblem, type Member, membersOf, objectText } from "@nova/engine";
import { utf8In } from "@nova/workflow";
import { InvalidInput, refusing } from "../errors.ts";

/** More than that belongs in a file that is passed on as bytes. */
const limitBytes = 64 * 1024 * 1024;

/** The file's, with every `--set` over what came before, as JSON text: 12345678901234567890 and 850.0 arrive as such. */
export async function readContext(file: string | undefined, settings: readonly string[]): Promise<string> {
  const members = file === undefined ? [] : membersOf(await readObjectFile(file));
  const all = [...members, ...settings.map(readSetting)];
  return objectText([...new Map(all.map((member) => [member.key, member])).values()]);
}

/** The text of a context file. */
export async function readObjectFile(file: string): Promise<string> {
  const text = await readJsonFile(file, "context");
  if (isObjectText(text)) return text;
  throw new InvalidInput(`context file "${file}" holds no JSON object - write {"key": value}`);
}

/** Whether text that is JSON is that of an object. */
export function isObjectText(json: string): boolean {
  return json.trimStart().startsWith("{");
}

/** The text of a file of any JSON value; `what` names it in sentences. */
export async function readJsonFile(file: string, what: string): Promise<string> {
  const bytes = await readBytes(file, what).catch(
    refusing(`${what} file "${file}" cannot be read - name a readable JSON file`),
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

/** What no node could read, or could read in two ways: half a character, a name that is twice in an object. */
function refuseUnclear(json: string, what: string): void {
  const problem = jsonProblem(json);
  if (problem !== undefined) throw new InvalidInput(`${what} ${problem} - correct it`);
}

async function readBytes(file: string, what: string): Promise<Buffer> {
  await using handle = await open(file);
  const { size } = await handle.stat();
  if (size <= limitBytes) return await handle.readFile();
  const advice = what === "context" ? "pass what is large with --file key=path" : "make it smaller";
  const limit = `at most ${limitBytes} (64 MB) are read`;
  throw new InvalidInput(`${what} file "${file}" has ${size} bytes, ${limit} - ${advice}`);
}

/** Throws `InvalidInput` with the sentence where the bytes are no text. */
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

/** `key=value` of an option; the value may hold further `=`. */
export function splitPair(text: string, option: string, value: string): [key: string, value: string] {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidInput(`${option} ${text} is not ${option} key=${value} - write it so`);
  return [text.slice(0, at), text.slice(at + 1)];
}
