import { Refused } from "../errors.ts";
import { fileNameIn } from "../triggers/file-name.ts";
import { charsetOf, parametersOf } from "./content-type.ts";
import { decodeText } from "./decode-body.ts";
import { decodePercent, type FormPart, splitMultipart } from "./multipart.ts";

/** A field of a form: a text, or a file with its name and type. */
export type FormField = string | { name: string; type: string; bytes: Uint8Array };

/** A browser's form has a few hundred fields at most. */
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

/** Parses `multipart/form-data`. Text is in the charset of its part, else in that of the form. Throws `Refused`. */
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
  // RFC 7578: the default type of a part.
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
