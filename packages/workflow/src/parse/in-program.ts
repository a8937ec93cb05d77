import { isObject } from "../json/loose.ts";

const kinds = "start|end|action|decision|approval|wait|workflow|map";

/**
 * Where a TypeScript program says what a path into its definition names, as an offset: the node of that id and, behind
 * it, the field; the edge with those ends; else a field that it has once. Undefined where that cannot be told.
 */
export function offsetInProgram(
  program: string,
  definition: unknown,
  path: readonly (string | number)[],
): number | undefined {
  const at = path.findLastIndex(
    (step, index) => typeof step === "number" && /^(nodes|edges)$/.test(`${path[index - 1]}`),
  );
  const field = path.slice(at + 1).find((step) => typeof step === "string");
  if (at < 0) return field === undefined ? 0 : onlyMatch(program, `(?<![\\w.])["']?${literal(field)}["']?\\s*:`);
  const { id, from, to } = thingAt(definition, path.slice(0, at + 1));
  if (path[at - 1] === "edges") {
    const end = (name: string, value: unknown) => `["']?${name}["']?\\s*:\\s*["'\`]${literal(value)}["'\`]`;
    return onlyMatch(program, `${end("from", from)}\\s*,\\s*${end("to", to)}`);
  }
  const start = onlyMatch(program, `(?<![\\w.])["']?${literal(id)}["']?\\s*:\\s*(${kinds})\\s*\\(`);
  if (start === undefined || field === undefined) return start;
  const [first = "", ...rest] = program.slice(start).split(new RegExp(`(?=:\\s*(?:${kinds})\\s*\\()`));
  const own = `${first}${rest[0] ?? ""}`;
  const inside = own.slice(1).search(new RegExp(`(?<![\\w.])["']?${literal(field)}["']?\\s*[:,}]`));
  return inside < 0 ? start : start + 1 + inside;
}

function thingAt(definition: unknown, path: readonly (string | number)[]): Record<string, unknown> {
  const found = path.reduce<unknown>((value, step) => (value as Record<string | number, unknown>)?.[step], definition);
  return isObject(found) ? found : {};
}

function onlyMatch(program: string, pattern: string): number | undefined {
  const [first, ...others] = program.matchAll(new RegExp(pattern, "g"));
  return others.length === 0 ? first?.index : undefined;
}

function literal(text: unknown): string {
  return String(text).replaceAll(/[^\w]/g, "\\$&");
}
