import { isIPv4 } from "node:net";
import { at, type Finding, type FindingCode, finding, type WrittenPlace } from "../findings/finding.ts";
import { checkSchema } from "../inputs/check-schema.ts";
import { type Exactly, isObject, type Loose, type WrittenJson } from "../json/exact.ts";

export const reservedKey = /^(branch_decision|error|_data_analysis|_ai_metadata)$|^\$/;

export function isReserved(key: string): boolean {
  return reservedKey.test(key);
}

export interface FieldPlace extends WrittenPlace {
  exactly: Exactly;
}

/**
 * Reports each of `fields` that is present in the node, because none of them has an effect there. `wayOut` completes
 * the sentence "node: field ...".
 */
export function* checkOutOfPlace(
  code: FindingCode,
  fields: readonly string[],
  wayOut: string,
  [node, { name, path }]: [Loose, WrittenPlace],
): Iterable<Finding> {
  for (const field of fields.filter((one) => node[one] !== undefined)) {
    yield finding(code, at(path, field), `${name}: ${field} ${wayOut}`);
  }
}

/**
 * Checks the schema of answers of a person or a model. `problem` starts the message of each finding, and `place` is the
 * path of the schema.
 */
export function* checkAnswerSchema(code: FindingCode, schema: WrittenJson, problem: string, place: string) {
  const { problems, secrets } = checkSchema(schema);
  for (const { segments, message } of problems) yield finding(code, at(place, ...segments), `${problem}: ${message}`);
  for (const segments of secrets) {
    const message = `${problem}: secret has no effect here, because answers are in the chain of work - remove it`;
    yield finding(code, at(place, ...segments), message);
  }
}

export function* checkKey(node: Loose, field: "as" | "into", { name, path }: WrittenPlace): Iterable<Finding> {
  const key = node[field];
  if (typeof key !== "string" || !isReserved(key)) return;
  const message = `${name}: the key "${key}" is reserved for NOVA - use another one in ${field}`;
  yield finding("NOVA502", at(path, field), message);
}

/**
 * Reports a reserved key in `into`. Without `into`, the key is the node's id, so this function reports a reserved id.
 */
export function* checkOwnKey(node: Loose, place: WrittenPlace): Iterable<Finding> {
  if (node.into !== undefined) return yield* checkKey(node, "into", place);
  if (typeof node.id !== "string" || !isReserved(node.id)) return;
  const message = `${place.name}: its result would go to the key "${node.id}", which is reserved for NOVA - add "into" with another one`;
  yield finding("NOVA502", at(place.path, "id"), message);
}

const webPorts = ["80", "443"];

/** Warns of host names with a port: E2B filters ports only for IP addresses. The written fields may have any type. */
export function* checkPorts(network: unknown, name: string, path: (index: number) => string): Iterable<Finding> {
  const allow = (network as { allow?: unknown } | null | undefined)?.allow;
  if (!Array.isArray(allow)) return;
  for (const [index, entry] of allow.entries()) {
    if (typeof entry !== "string" || nameToResolve(entry.trim()) === undefined) continue;
    const message = `${name}: E2B itself cannot enforce ports, so "${entry}" is resolved before each run and only the sandbox enforces the port - write an address instead of a name`;
    yield finding("NOVA424", path(index), message);
  }
}

/** Returns the host name in an entry of `allow` whose port E2B cannot filter by name; undefined for any other entry. */
export function nameToResolve(entry: string): string | undefined {
  const [, host = "", port = ""] = /^([^:[\]/]+):(\d+)$/.exec(entry) ?? [];
  return host === "" || isIPv4(host) || host === "localhost" || webPorts.includes(port) ? undefined : host;
}

/** Checks `input_schema` of a node. */
export function* checkInputSchema(node: Loose, { name, path, exactly }: FieldPlace): Iterable<Finding> {
  const { input_schema: schema } = node;
  if (!isObject(schema)) return;
  const place = at(path, "input_schema");
  if (schema.type !== "object") {
    yield finding(
      "NOVA453",
      place,
      `${name}: input_schema must have "type": "object" - describe the arguments in properties`,
    );
  }
  for (const { segments, message } of checkSchema(exactly(place)).problems)
    yield finding("NOVA453", at(place, ...segments), `${name}: input_schema: ${message}`);
}
