import { Refused } from "../errors.ts";
import { decodedText } from "./decode-body.ts";

/** A field of a form: a text, or a file with its name and type. */
export type FormField = string | { name: string; type: string; bytes: Uint8Array };

/** One page of a browser has some hundred. */
const maxFields = 1_000;
const longestName = 200;

/** Fields of `application/x-www-form-urlencoded`, in the charset that its content-type states. Throws `Refused`. */
export function urlencodedFields(bytes: Uint8Array, contentType: string): [string, string][] {
  const pairs = Buffer.from(bytes).toString("latin1").split("&");
  return pairs
    .filter((pair) => pair !== "")
    .map((pair): [string, string] => {
      const at = pair.includes("=") ? pair.indexOf("=") : pair.length;
      return [textOf(pair.slice(0, at), contentType), textOf(pair.slice(at + 1), contentType)];
    });
}

function textOf(escaped: string, contentType: string): string {
  const spaced = escaped.replaceAll("+", " ");
  const raw = spaced.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return decodedText(Buffer.from(raw, "latin1"), contentType, "a field of its form");
}

/** Fields and files of `multipart/form-data`. Throws `Refused`. */
export async function multipartFields(
  bytes: Uint8Array<ArrayBuffer>,
  contentType: string,
): Promise<[string, FormField][]> {
  const form = await new Response(bytes, { headers: { "content-type": contentType } }).formData().catch((cause) => {
    throw new Refused("its body is no multipart/form-data - correct it, or send another content-type", [], { cause });
  });
  const entries = [...form];
  if (entries.length > maxFields)
    throw new Refused(`its form has ${entries.length} fields, at most ${maxFields} are taken - send fewer`);
  return Promise.all(entries.map(async ([name, value]) => [demandName(name), await fieldOf(name, value, bytes)]));
}

function demandName(name: string): string {
  if (name.length <= longestName) return name;
  throw new Refused(`a name in its form has more than ${longestName} characters - shorten it`);
}

async function fieldOf(name: string, value: string | File, body: Uint8Array): Promise<FormField> {
  if (typeof value !== "string")
    return { name: fileName(value.name), type: value.type, bytes: Buffer.from(await value.arrayBuffer()) };
  // The parser of Node puts the sign in the place of bytes that are no UTF-8.
  if (value.includes("\ufffd") && !Buffer.from(body).includes("\ufffd"))
    throw new Refused(`the field "${name}" of its form is not UTF-8 text - send UTF-8, or a file`);
  return value;
}

/** Never a path. */
function fileName(name: string): string {
  return (name.split(/[/\\]/).at(-1) ?? "").slice(0, longestName);
}

/** The one rule for fields that come more than once: they are a list of all their values, in order. */
export function fieldsByName<T>(fields: readonly (readonly [string, T])[]): Record<string, T | T[]> {
  const groups = Map.groupBy(fields, ([name]) => name);
  return Object.fromEntries(
    Array.from(groups, ([name, all]) => [
      name,
      all.length === 1 ? (all[0] as readonly [string, T])[1] : all.map(([, one]) => one),
    ]),
  );
}
