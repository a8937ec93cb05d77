import { Refused } from "../errors.ts";
import { fileNameIn } from "../triggers/start.ts";
import { charsetOf, decodeText, parametersOf } from "./decode-body.ts";

/** A field of a form: a text, or a file with its name and type. */
export type FormField = string | { name: string; type: string; bytes: Uint8Array };

/** Maximum number of fields in a form. A browser's form has a few hundred fields at most. */
const maxFields = 1_000;
const longestName = 200;

/** Parses `application/x-www-form-urlencoded` in the charset of its content-type. Throws `Refused`. */
export function parseUrlencodedFields(bytes: Uint8Array, contentType: string): [string, string][] {
  const charset = charsetOf(contentType);
  const text = (escaped: string) =>
    decodeText(charset, decodePercent(escaped.replaceAll("+", " ")), "a field of its form");
  const pairs = Buffer.from(bytes).toString("latin1").split("&");
  const fields = pairs.filter((pair) => pair !== "");
  demandFew(fields.length);
  return fields.map((pair) => {
    const at = pair.includes("=") ? pair.indexOf("=") : pair.length;
    return [demandName(text(pair.slice(0, at))), text(pair.slice(at + 1))];
  });
}

/**
 * Parses `multipart/form-data`. Text is decoded in the charset that its part names. If the part names none, the charset
 * of the form counts. Throws `Refused`.
 */
export function parseMultipartFields(bytes: Buffer, contentType: string): [string, FormField][] {
  const charset = charsetOf(contentType);
  const fields: [string, FormField][] = [];
  for (const part of splitMultipart(bytes, parametersOf(contentType).get("boundary"))) {
    const name = demandName(decodeText(charset, part.name, "a name in its form"));
    fields.push([name, fieldOf(name, part, charset)]);
    demandFew(fields.length);
  }
  return fields;
}

function fieldOf(name: string, { file, contentType, bytes }: FormPart, charset: string | undefined): FormField {
  const what = `the field ${JSON.stringify(name)} of its form`;
  if (file === undefined) return decodeText(charsetOf(contentType) ?? charset, bytes, what);
  const fileName = decodeText(file.charset ?? charset, file.name, "the name of a file in its form");
  // A file without a type is `text/plain` (RFC 7578).
  return { name: fileNameIn(fileName).slice(0, longestName), type: contentType || "text/plain", bytes };
}

function demandFew(fields: number): void {
  if (fields <= maxFields) return;
  throw new Refused(`its form has more than ${maxFields} fields, at most ${maxFields} are taken - send fewer`);
}

function demandName(name: string): string {
  if (name.length <= longestName) return name;
  throw new Refused(`a name in its form has more than ${longestName} characters - shorten it`);
}

/** Groups fields by name. A field that occurs more than once becomes a list of its values, in order. */
export function fieldsByName<T>(fields: readonly (readonly [string, T])[]): Record<string, T | T[]> {
  const groups = Map.groupBy(fields, ([name]) => name);
  return Object.fromEntries(
    Array.from(groups, ([name, all]) => [
      name,
      all.length === 1 ? (all[0] as readonly [string, T])[1] : all.map(([, one]) => one),
    ]),
  );
}

/** A part of a form with its raw bytes. Node's own parser decodes all text as UTF-8, which damages other charsets. */
export interface FormPart {
  name: Buffer;
  /** Absent for a text field. `charset` is present if the file name states its own. */
  file?: { name: Buffer; charset?: string };
  contentType: string;
  bytes: Buffer;
}

const longestHead = 16_384;

/** Yields the parts of `multipart/form-data` (RFC 7578). Throws `Refused`. */
export function* splitMultipart(body: Buffer, boundary: string | undefined): Iterable<FormPart> {
  if (!boundary) throw noForm("its content-type states no boundary");
  for (const section of sections(body, `--${boundary}`)) yield readPart(section);
}

function noForm(reason: string): Refused {
  return new Refused(`its body is no multipart/form-data (${reason}) - correct it, or send another content-type`);
}

/** Yields the bytes between boundary lines. Text before the first boundary and after the last is ignored. */
function* sections(body: Buffer, delimiter: string): Iterable<Buffer> {
  let start: number | undefined;
  for (let at = body.indexOf(delimiter); at !== -1; at = body.indexOf(delimiter, at + delimiter.length)) {
    const isLineStart = at === 0 || body.toString("latin1", at - 2, at) === "\r\n";
    const after = at + delimiter.length;
    const [end] = /^(?:--|[ \t]*\r\n)/.exec(body.toString("latin1", after, after + 100)) ?? [];
    if (!isLineStart || end === undefined) continue;
    if (start !== undefined) yield body.subarray(start, Math.max(start, at - 2));
    if (end === "--") return;
    start = after + end.length;
  }
  throw noForm("its last boundary is missing");
}

function readPart(section: Buffer): FormPart {
  const end = section.subarray(0, longestHead).indexOf("\r\n\r\n");
  if (end === -1) throw noForm("a part has no head");
  const headers = headersIn(section.toString("latin1", 0, end));
  const disposition = headers.get("content-disposition") ?? "";
  const parameters = parametersOf(disposition);
  const name = parameters.get("name");
  if (name === undefined || !/^form-data\s*;/i.test(disposition)) throw noForm("a part has no name");
  const file = fileIn(parameters);
  return {
    name: unescaped(name),
    contentType: headers.get("content-type") ?? "",
    ...(file && { file }),
    bytes: decoded(section.subarray(end + 4), headers.get("content-transfer-encoding")),
  };
}

function headersIn(head: string): Map<string, string> {
  const lines = head.replaceAll(/\r\n[ \t]+/g, " ").split("\r\n");
  return new Map(lines.map((line) => [line.split(":", 1)[0]?.trim().toLowerCase() ?? "", valueIn(line)]));
}

function valueIn(line: string): string {
  return line.slice(line.indexOf(":") + 1).trim();
}

/**
 * Returns the file name from the parameters of a part; undefined if they have none. `filename*` holds the charset, a
 * language, and the name (RFC 8187).
 */
function fileIn(parameters: ReadonlyMap<string, string>): FormPart["file"] {
  const [, charset, encoded] = /^([^']+)'[^']*'(.*)$/s.exec(parameters.get("filename*") ?? "") ?? [];
  if (charset !== undefined && encoded !== undefined)
    return { name: decodePercent(encoded), charset: charset.toLowerCase() };
  const name = parameters.get("filename");
  return name === undefined ? undefined : { name: unescaped(name) };
}

/** Decodes the name of a field. Browsers escape only line feeds, carriage returns and quotes in such a name. */
function unescaped(name: string): Buffer {
  return decodePercent(name, /%(0a|0d|22)/gi);
}

/** Decodes percent escapes into bytes; `text` is latin-1. */
export function decodePercent(text: string, escapes = /%([0-9a-f]{2})/gi): Buffer {
  return Buffer.from(
    text.replace(escapes, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  );
}

function decoded(bytes: Buffer, encoding = "binary"): Buffer {
  const name = encoding.toLowerCase();
  if (["7bit", "8bit", "binary"].includes(name)) return bytes;
  if (name === "base64") return Buffer.from(bytes.toString("latin1"), "base64");
  throw noForm(`a part has the content-transfer-encoding ${JSON.stringify(encoding.slice(0, 40))}`);
}
