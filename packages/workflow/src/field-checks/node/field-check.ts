import { type Finding, type FindingCode, finding } from "../../findings/finding.ts";
import { at } from "../../findings/text.ts";
import type { WrittenPlace } from "../../findings/written.ts";
import { checkSchema } from "../../inputs/check-schema.ts";
import type { Exactly, WrittenJson } from "../../json/exact.ts";
import { isReserved } from "../reserved.ts";

/** Checks the rules of a node that its schema cannot express. It reads the written fields, which may have any type. */
export type FieldCheck = (node: Record<string, unknown>, place: FieldPlace) => Iterable<Finding>;

export interface FieldPlace extends WrittenPlace {
  exactly: Exactly;
}

/** Reports fields without an effect at such a node. `wayOut` completes the sentence "node: field ...". */
export function* checkOutOfPlace(
  code: FindingCode,
  fields: readonly string[],
  wayOut: string,
  [node, { name, path }]: [Record<string, unknown>, WrittenPlace],
): Iterable<Finding> {
  for (const field of fields.filter((one) => node[one] !== undefined)) {
    yield finding(code, at(path, field), `${name}: ${field} ${wayOut}`);
  }
}

/** Checks a schema for answers. `problem` starts the sentences about it; `place` is its path. */
export function* checkAnswerSchema(
  code: FindingCode,
  schema: WrittenJson,
  problem: string,
  place: string,
): Iterable<Finding> {
  const { problems, secrets } = checkSchema(schema);
  for (const { segments, message } of problems) yield finding(code, at(place, ...segments), `${problem}: ${message}`);
  for (const segments of secrets) {
    const message = `${problem}: secret has no effect here, because answers are in the chain of work - remove it`;
    yield finding(code, at(place, ...segments), message);
  }
}

/** Reports a key that is reserved for NOVA. */
export function* checkKey(
  node: Record<string, unknown>,
  field: "as" | "into",
  { name, path }: WrittenPlace,
): Iterable<Finding> {
  const key = node[field];
  if (typeof key !== "string" || !isReserved(key)) return;
  const message = `${name}: the key "${key}" is reserved for NOVA - use another one in ${field}`;
  yield finding("NOVA502", at(path, field), message);
}

/** Reports a reserved key in `into`, or a reserved node id, which is the key without `into`. */
export function* checkOwnKey(node: Record<string, unknown>, place: WrittenPlace): Iterable<Finding> {
  if (node.into !== undefined) return yield* checkKey(node, "into", place);
  if (typeof node.id !== "string" || !isReserved(node.id)) return;
  const message = `${place.name}: its result would go to the key "${node.id}", which is reserved for NOVA - add "into" with another one`;
  yield finding("NOVA502", at(place.path, "id"), message);
}
