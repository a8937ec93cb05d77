import { randomUUID } from "node:crypto";
import { elementsOf, type FileInPlace, jsonProblem, membersOf, sha256 } from "@nova/engine";
import { halfCharacterIn, isJson, utf8In, type WebhookTrigger } from "@nova/workflow";
import { Refused } from "../errors.ts";
import { fileOf } from "../triggers/start.ts";
import { decodeBodyText } from "./decode-body.ts";
import { type FormField, fieldsByName, parseMultipartFields, parseUrlencodedFields } from "./form-body.ts";

/** A body as it enters a run's context: JSON text, with a mark in place of each file, and these files. */
export interface HookBody {
  json: string;
  files: FileInPlace[];
}

/**
 * Converts a body. JSON stays unchanged, with all digits of its numbers. A form becomes an object of its fields and
 * files, text becomes a string, and everything else becomes bytes. Throws `Refused`.
 */
export async function readHookBody(contentType: string, bytes: Uint8Array): Promise<HookBody> {
  const type = (contentType.split(";")[0] ?? "").trim().toLowerCase();
  if (bytes.length === 0) return { json: "null", files: [] };
  if (/^application\/(json|[a-z0-9.+-]*\+json)$/.test(type))
    return { json: jsonIn(decodeBodyText(bytes, contentType)), files: [] };
  if (type === "application/x-www-form-urlencoded") return formBody(parseUrlencodedFields(bytes, contentType));
  if (type === "multipart/form-data") return formBody(parseMultipartFields(Buffer.from(bytes), contentType));
  if (type.startsWith("text/")) return { json: JSON.stringify(decodeBodyText(bytes, contentType)), files: [] };
  const file = fileOf(bytes);
  return { json: JSON.stringify(file.mark), files: [file] };
}

function formBody(fields: readonly [string, FormField][]): HookBody {
  const files: FileInPlace[] = [];
  const values = fields.map(([name, value]): [string, unknown] => {
    if (typeof value === "string") return [name, value];
    const file = fileOf(value.bytes);
    files.push(file);
    return [name, { name: value.name, type: value.type, bytes: file.mark }];
  });
  return { json: JSON.stringify(fieldsByName(values)), files };
}

function jsonIn(text: string): string {
  demandJson(text);
  const half = halfCharacterIn(text);
  if (half !== undefined)
    throw new Refused(`its body has half a character at ${half} (a surrogate alone) - send both halves, or neither`);
  const problem = jsonProblem(text);
  if (problem === undefined) return text;
  throw new Refused(`its body ${problem} - correct it`);
}

function demandJson(text: string): void {
  try {
    JSON.parse(text);
  } catch (error) {
    const place = / at position (\d+)/.exec((error as SyntaxError).message)?.[1];
    const where = place === undefined ? "" : ` from character ${place} on`;
    throw new Refused(`its body is not JSON${where} - correct it, or send another content-type`);
  }
}

/**
 * Returns the id that repeated deliveries of a request share: the value that the trigger's `dedupe` names, else a hash
 * of the body. Without `dedupe` every request is unique. For a signed request, only the body counts, because the
 * signature does not cover the headers. For the same reason, the function reads the body in the same way for every
 * content-type. If headers counted, an attacker who has seen one request could repeat it with changed headers, and
 * start any number of runs.
 */
export function dedupeIdOf(
  { dedupe, signature }: Pick<WebhookTrigger, "dedupe" | "signature">,
  { headers, body }: { headers: Record<string, string>; body: Uint8Array },
): string {
  if (dedupe === undefined) return randomUUID();
  const [root, ...path] = dedupe.split(".");
  const header = signature === undefined ? headers[path.join(".")] : undefined;
  const id = root === "headers" ? header : idIn(body, path);
  if (id !== undefined && id.trim() !== "") return id;
  return `sha256:${sha256(body)}`;
}

/**
 * Finds the string or number at `path` in the body's JSON or form. A number stays as the sender wrote it, because
 * parsing a long number as a double would change its last digits.
 */
function idIn(body: Uint8Array, path: readonly string[]): string | undefined {
  const text = utf8In(body);
  if (text === undefined) return undefined;
  const whole = isJson(text) ? text.trim() : JSON.stringify(fieldsByName([...new URLSearchParams(text)]));
  const json = path.reduce<string | undefined>((outer, name) => outer && memberIn(outer, name), whole);
  if (json?.startsWith('"')) return JSON.parse(json);
  return json !== undefined && /^[-\d]/.test(json) ? json : undefined;
}

function memberIn(json: string, name: string): string | undefined {
  if (json.startsWith("{")) return membersOf(json).findLast(({ key }) => key === name)?.json;
  return json.startsWith("[") && /^(0|[1-9]\d*)$/.test(name) ? elementsOf(json)[Number(name)] : undefined;
}
