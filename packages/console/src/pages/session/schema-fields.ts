import type { Schemas } from "@nova/client";
import { findMember, listMembers } from "../../json/raw.ts";
import { type Field, type Problems, parseFields } from "../../parts/form/form.ts";

/** A finding of the server, with the path of the value in the workflow: `$.triggers[0].cron`. */
type Found = Pick<Schemas["Finding"], "path" | "severity" | "message">;

/**
 * Lists the fields of the definition `definition` in the JSON schema of workflow files; without this name, those of the
 * workflow.
 */
export function listSchemaFields(schema: string, definition?: string): readonly Field[] {
  const plain = removeMarkdown(schema);
  const definitions = findMember(plain, "$defs") ?? "{}";
  const own = definition === undefined ? plain : findMember(definitions, definition);
  if (own === undefined) return [];
  const members = listMembers(own).flatMap(({ key, text }) =>
    key === "$defs" ? [] : [`${JSON.stringify(key)}:${text}`],
  );
  return parseFields(`{${[...members, `"$defs":${definitions}`].join(",")}}`).map(withoutInitial);
}

/** Removes Markdown from the descriptions: marks of code, and links. */
function removeMarkdown(schema: string): string {
  return schema.replaceAll(/"description":\s*"(?:[^"\\]|\\.)*"/g, (text) =>
    text.replaceAll("`", "").replaceAll(/\[([^\]]*)\]\(#?[^)]*\)/g, "$1"),
  );
}

/**
 * Removes the default of a field, so that the form does not add an absent member. The description of the field names
 * the default.
 */
function withoutInitial(field: Field): Field {
  const { shape } = field;
  const inner = shape.kind === "object" ? { ...shape, fields: shape.fields.map(withoutInitial) } : shape;
  return { ...field, shape: inner, initial: undefined };
}

/**
 * Splits the findings below the path `root`: `problems` contains the messages by the path of their field in the form,
 * and `others` contains the findings without a field. Warnings are among `others`, because a form shows a field with a
 * message as invalid.
 */
export function placeFindings<T extends Found>(fields: readonly Field[], findings: readonly T[], root: string) {
  const problems = new Map<string, string>();
  const others: T[] = [];
  for (const found of findings) {
    if (found.path !== root && !found.path.startsWith(`${root}.`)) continue;
    const place = found.severity === "error" ? findPlace(fields, found.path.slice(root.length)) : "";
    if (place === "") others.push(found);
    else problems.set(place, found.message);
  }
  return { problems: problems as Problems, others };
}

/**
 * Returns the path in the form of the innermost field on a JSON path such as `.signature.header`; empty if no field is
 * on it.
 */
function findPlace(fields: readonly Field[], path: string): string {
  const [, key, rest = ""] = /^\.(\w+)(.*)$/.exec(path) ?? [];
  const at = fields.findIndex((field) => field.key === key);
  const shape = fields[at]?.shape;
  if (shape === undefined) return "";
  return `.${at}${shape.kind === "object" ? findPlace(shape.fields, rest) : ""}`;
}
