import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { dirname, isAbsolute, join, normalize } from "node:path";
import {
  type ExactValue,
  type FileInPlace,
  type FileInput,
  isRawNumber,
  jsonProblem,
  type Member,
  membersOf,
  newFileMark,
  objectText,
  parseExact,
} from "@nova/engine";
import { demandLeadsInside, utf8In } from "@nova/workflow";
import { InvalidInput, throwInvalid } from "../errors.ts";

/** The largest context file. Larger values are passed with `--file`, as bytes. */
const limitBytes = 64 * 1024 * 1024;

/**
 * Returns the initial context as JSON text: the content of the context file, with the value of every `--set`. In JSON
 * text, numbers such as 12345678901234567890 and 850.0 stay exact.
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

/** Returns whether a JSON text is an object. */
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
 * Throws `InvalidInput` for a text with half a character, which nodes cannot read. Also throws it for an object in
 * which a name occurs twice, because nodes could read this object in two ways.
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

/** Decodes bytes as UTF-8. Throws `InvalidInput` with this sentence if the bytes are not valid UTF-8. */
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

/** Splits the value `key=value` of an option at its first `=`. The value may contain further `=`. */
export function splitPair(text: string, option: string, value: string): [key: string, value: string] {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidInput(`${option} ${text} is not ${option} key=${value} - use this form`);
  return [text.slice(0, at), text.slice(at + 1)];
}

/**
 * Reads `--file key=path`. The command never has the whole file in memory: it reads the file once to hash it, and a
 * second time to send it.
 */
export function readFiles(options: readonly string[]): Promise<FileInput[]> {
  const read = async (option: string) => {
    const [key, path] = splitPair(option, "--file", "path");
    return { key, ...(await readFileAt(path, `--file ${key}`)) };
  };
  return Promise.all(options.map(read));
}

/** Returns the hash and the size of a file. An error message starts with `where`. Throws `InvalidInput`. */
export async function readFileAt(path: string, where: string): Promise<Omit<FileInput, "key">> {
  const stats = await stat(path).catch(throwInvalid(`${where}: there is no file "${path}" - correct the path`));
  if (!stats.isFile()) throw new InvalidInput(`${where}: "${path}" is not a file - name one`);
  const open = () => createReadStream(path);
  const hashed = await hashOf(open()).catch(throwInvalid(`${where}: "${path}" cannot be read - make it readable`));
  return { ...hashed, open };
}

/** Hashes all chunks of a content. Calls `each` with every chunk, and reads the next chunk when `each` has finished. */
export async function hashOf(
  chunks: AsyncIterable<Uint8Array>,
  each?: (chunk: Uint8Array, bytes: number) => Promise<unknown>,
): Promise<{ sha256: string; bytes: number }> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of chunks) {
    hash.update(chunk);
    bytes += chunk.length;
    await each?.(chunk, bytes);
  }
  return { sha256: hash.digest("hex"), bytes };
}

/**
 * Reads the files that a context file names by `{"$file": "path"}`. A path is relative to the folder of the context
 * file. `nova pull` writes such references for bytes. A key `$$file` stands for a key named `$file`. Throws
 * `InvalidInput`.
 */
export async function placeContextFiles(
  context: string,
  contextFile: string,
): Promise<{ context: string; files: FileInPlace[] }> {
  if (!context.includes('$file"')) return { context, files: [] };
  const named: { mark: string; path: string }[] = [];
  const visit = async (value: ExactObject): Promise<ExactValue> => {
    const path = fileIn(value);
    const plain = (key: string) => (/^\$\$+file$/.test(key) ? key.slice(1) : key);
    if (path === undefined) return mapMembers(value, visit, plain);
    const mark = newFileMark();
    named.push({ mark, path });
    return mark;
  };
  const placed = await mapObjects(context, visit);
  const read = ({ mark, path }: (typeof named)[number]) => readPlaced(mark, path, contextFile);
  return { context: placed, files: await Promise.all(named.map(read)) };
}

function fileIn(value: ExactObject): string | undefined {
  const [[key, path] = [], second] = Object.entries(value);
  return second === undefined && key === "$file" && typeof path === "string" ? path : undefined;
}

/**
 * Accepts only files below the context file's folder, also after following links, because a context from another source
 * must not read other files of this machine.
 */
async function readPlaced(mark: string, path: string, contextFile: string): Promise<FileInPlace> {
  const wayOut = "name one in its own folder";
  if (isAbsolute(path) || normalize(path).startsWith("..")) {
    throw new InvalidInput(`"${contextFile}" names the file "${path}" - ${wayOut}`);
  }
  const folder = dirname(contextFile);
  await demandLeadsInside(folder, path).catch(
    throwInvalid((cause) => `"${contextFile}": ${cause.message}, or ${wayOut}`),
  );
  return { mark, ...(await readFileAt(join(folder, path), `${contextFile}: "$file"`)) };
}

export type ExactObject = { [key: string]: ExactValue };

type Visit = (value: ExactObject) => Promise<ExactValue>;

/**
 * Calls `visit` for the outermost objects of a JSON text, and returns the text with the results in their places. Every
 * number keeps its digits.
 */
export async function mapObjects(json: string, visit: Visit, indent?: number): Promise<string> {
  return JSON.stringify(await mapValue(parseExact(json), visit), null, indent);
}

export async function mapValue(value: ExactValue, visit: Visit): Promise<ExactValue> {
  if (value === null || typeof value !== "object" || isRawNumber(value)) return value;
  return Array.isArray(value) ? Promise.all(value.map((one) => mapValue(one, visit))) : visit(value);
}

/** Calls `visit` for the values of an object's members. `keyOf` may rename their keys. */
export async function mapMembers(value: ExactObject, visit: Visit, keyOf = (key: string) => key): Promise<ExactObject> {
  const members = Object.entries(value).map(async ([key, one]) => [keyOf(key), await mapValue(one, visit)] as const);
  return Object.fromEntries(await Promise.all(members));
}
