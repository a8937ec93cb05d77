import { closest, distance } from "fastest-levenshtein";

/**
 * The numbers of all codes, by severity (docs/findings.md). A code never changes its meaning, and the code of a removed
 * finding is never reused.
 */
const errors = [
  101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 120, 121, 122, 123, 124, 125, 126, 127, 130,
  131, 201, 202, 203, 204, 205, 206, 207, 209, 210, 211, 220, 221, 222, 223, 226, 230, 231, 232, 233, 240, 241, 242,
  243, 244, 245, 301, 303, 304, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417,
  418, 419, 420, 421, 422, 423, 430, 431, 432, 440, 441, 442, 450, 451, 452, 453, 454, 455, 456, 501, 502, 503, 505,
  506, 507, 511, 512, 515, 601, 602, 603, 607, 701, 801, 802, 803, 805,
] as const;
const warnings = [
  115, 116, 128, 129, 132, 133, 224, 225, 302, 424, 425, 429, 433, 443, 504, 508, 509, 510, 513, 514, 516, 604, 606,
  608, 609, 702, 804,
] as const;

export type FindingCode = `NOVA${(typeof errors | typeof warnings)[number]}`;

export const findings = Object.fromEntries([
  ...errors.map((number) => [`NOVA${number}`, "error"]),
  ...warnings.map((number) => [`NOVA${number}`, "warning"]),
]) as Record<FindingCode, "error" | "warning">;

export interface Finding {
  code: FindingCode;
  severity: "error" | "warning";
  /** JSON path in the written definition: `$.nodes[2].timeout`. */
  path: string;
  message: string;
  /**
   * File to which `line` and `column` (both from 1) refer. Absent: they refer to the text in the definition at `path`.
   */
  file?: string;
  line?: number;
  column?: number;
}

export function finding(
  code: FindingCode,
  path: string,
  message: string,
  place: Pick<Finding, "file" | "line" | "column"> = {},
): Finding {
  return { code, severity: findings[code], path, message, ...place };
}

const step = /\.([A-Za-z_$][\w$]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/g;

/** Appends segments to a path: `$.nodes` and 2, "timeout" -> `$.nodes[2].timeout`. */
export function at(path: string, ...segments: PropertyKey[]): string {
  return segments.reduce<string>((before, segment) => before + formatStep(segment), path);
}

/** Splits a path into the segments from which `at` built it. */
export function segmentsOf(path: string): (string | number)[] {
  return [...path.matchAll(step)].map(([, name, index, quoted]) =>
    name !== undefined ? name : index !== undefined ? Number(index) : JSON.parse(quoted ?? '""'),
  );
}

function formatStep(segment: PropertyKey): string {
  if (typeof segment === "number") return `[${segment}]`;
  const name = String(segment);
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}

/** Formats a value for a message, without the user and password of an address. */
export function formatValue(value: unknown): string {
  const text = (JSON.stringify(value) ?? "nothing").replaceAll(/:\/\/[^\s/"]*@/g, "://...@");
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`;
}

export function didYouMean(wrong: string, candidates: readonly string[]): string {
  const found = nearest(wrong, candidates);
  return found === undefined ? "" : ` - did you mean "${found}"?`;
}

/**
 * Maximum number of candidates that `nearest` compares by similarity. If there are more, it finds only a candidate that
 * differs in nothing but case: a large graph with thousands of wrong ids must not take minutes.
 */
const comparable = 2_000;

export function nearest(wrong: string, candidates: readonly string[]): string | undefined {
  if (candidates.length === 0) return undefined;
  const lower = wrong.toLowerCase();
  const sameLetters = candidates.find((candidate) => candidate.toLowerCase() === lower);
  if (sameLetters !== undefined || candidates.length > comparable) return sameLetters;
  const found = closest(wrong, candidates);
  const length = Math.max(wrong.length, found.length);
  const allowed = Math.min(Math.max(2, Math.floor(length / 3)), Math.floor(length / 2));
  return distance(wrong, found) <= allowed ? found : undefined;
}

/** A part of the written definition: its name in sentences (`node "read"`) and its path. */
export interface WrittenPlace {
  name: string;
  path: string;
}

/** Checks that exactly one of the fields is present. `what` completes the sentence "<name> does not say ...". */
export function* checkOneOf(
  code: FindingCode,
  fields: readonly string[],
  what: string,
  written: Readonly<Record<string, unknown>>,
  { name, path }: WrittenPlace,
): Iterable<Finding> {
  const [first, ...others] = fields.filter((field) => written[field] !== undefined);
  const all = `${fields.slice(0, -1).join(", ")} or ${fields.at(-1)}`;
  if (first === undefined) yield finding(code, path, `${name} does not say ${what} - add ${all}`);
  for (const field of others) {
    yield finding(code, at(path, field), `${name} has both ${first} and ${field} - keep one of them`);
  }
}

/** Reports a missing or unknown `type`. `hint` replaces the suggestion of the nearest type. */
export function unknownType(
  code: FindingCode,
  type: unknown,
  types: readonly string[],
  { name, path }: WrittenPlace,
  hint?: string,
): Finding {
  const all = types.join(", ");
  if (type === undefined) return finding("NOVA106", path, `${name} has no "type" - add one of ${all}`);
  const wayOut = hint ?? (didYouMean(typeof type === "string" ? type : "", types) || ` - the types are ${all}`);
  return finding(code, at(path, "type"), `${name} has the unknown type ${formatValue(type)}${wayOut}`);
}
