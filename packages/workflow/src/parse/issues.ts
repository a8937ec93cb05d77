import { z } from "zod";
import type { Finding, FindingCode, WrittenPlace } from "../findings/finding.ts";
import { at, didYouMean, finding, formatValue } from "../findings/finding.ts";

type Issue = z.core.$ZodIssue;

export interface Subject extends WrittenPlace {
  value: unknown;
  pathOf?: (field: string) => string;
  schema: z.ZodType;
  /** Maps a field to the code of a finding about its value. The default is NOVA104. */
  codes: Partial<Record<string, FindingCode>>;
  /** Maps a field that this kind of node does not take to the reason. */
  refused?: Readonly<Record<string, string>>;
}

export function findingsOf(issues: readonly Issue[], subject: Subject): Finding[] {
  return issues
    .flatMap(unwrapUnion)
    .flatMap((issue) =>
      issue.code === "unrecognized_keys" ? unknownFields(issue, subject) : wrongValue(issue, subject),
    );
}

/**
 * Replaces an issue about a union of types by the issues about one type of this union, if the value can be meant for no
 * other type.
 */
function unwrapUnion(issue: Issue): Issue[] {
  if (issue.code !== "invalid_union") return [issue];
  const fitting = issue.errors.filter((inner) =>
    inner.every((one) => one.path.length > 0 || one.code === "unrecognized_keys"),
  );
  const [inside, second] = fitting;
  if (inside === undefined || second !== undefined) return [issue];
  return inside.map((one) => ({ ...one, path: [...issue.path, ...one.path] })).flatMap(unwrapUnion);
}

function unknownFields(issue: Issue & { code: "unrecognized_keys" }, subject: Subject): Finding[] {
  const inside = issue.path.map(String).join(".");
  const fields = knownFields(subject.schema, issue.path);
  return issue.keys.map((key) => {
    const path = pathIn(subject, [...issue.path, key]);
    const refused = inside === "" ? subject.refused?.[key] : undefined;
    if (refused !== undefined) return finding("NOVA105", path, `${subject.name} takes no ${key} - ${refused}`);
    const message = `${subject.name} has an unknown field "${inside === "" ? key : `${inside}.${key}`}"`;
    const wayOut =
      didYouMean(key, fields) || (fields.length > 0 ? ` - the fields are ${fields.join(", ")}` : " - remove it");
    return finding("NOVA105", path, message + wayOut);
  });
}

function wrongValue(issue: Issue, subject: Subject): Finding {
  const path = pathIn(subject, issue.path);
  const field = issue.path.map(String).join(".");
  const value = valueAt(subject.value, issue.path);
  const [first = ""] = issue.path.map(String);
  if (value === undefined && issue.path.length > 0) {
    return finding("NOVA106", pathIn(subject, issue.path.slice(0, -1)), `${subject.name} has no "${field}" - add it`);
  }
  const name = field === "" ? subject.name : `${subject.name}: ${field}`;
  const options = issue.code === "invalid_value" ? issue.values.map(String) : [];
  const hint = typeof value === "string" ? didYouMean(value, options) : "";
  return finding(subject.codes[first] ?? "NOVA104", path, `${name} ${issue.message}, not ${formatValue(value)}${hint}`);
}

function pathIn({ path, pathOf }: Subject, segments: readonly PropertyKey[]): string {
  const [first, ...rest] = segments;
  return first === undefined || !pathOf ? at(path, ...segments) : at(pathOf(String(first)), ...rest);
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((inside, key) => (inside as Record<PropertyKey, unknown> | undefined)?.[key], value);
}

/** Names of the fields that an object at this path may have; empty if any field is allowed. */
export function knownFields(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  const [name, ...rest] = path;
  return objectsIn(schema).flatMap(({ shape }) => {
    if (name === undefined) return Object.keys(shape);
    const inner = shape[String(name)];
    return inner instanceof z.ZodType ? knownFields(inner, rest) : [];
  });
}

/** Returns the object schemas inside optional fields, defaults, transformations and unions. */
function objectsIn(schema: z.ZodType): z.ZodObject[] {
  if (schema instanceof z.ZodObject) return [schema];
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => objectsIn(option as z.ZodType));
  if (schema instanceof z.ZodPipe) return objectsIn(schema.in as z.ZodType);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    return objectsIn(schema.unwrap() as z.ZodType);
  }
  return [];
}
