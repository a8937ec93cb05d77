import { type Finding, type FindingCode, finding } from "./finding.ts";
import { at, didYouMean, formatValue } from "./text.ts";

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
