import { isReserved } from "../field-checks/reserved.ts";
import { type Finding, finding } from "../findings/finding.ts";
import { at } from "../findings/path.ts";
import { shown } from "../findings/shown.ts";
import { checkSchema } from "../inputs/check-schema.ts";
import { isObject } from "../json/loose.ts";
import type { Document } from "../parse/document.ts";
import { pathsIn } from "../template/paths-in.ts";
import type { Outline } from "./outline.ts";

/** `inputs` can be used as what it is: the JSON schema of an object, with secrets where they are kept. */
export function* checkInputs({ body, pathOf }: Document): Iterable<Finding> {
  const { inputs } = body;
  if (!isObject(inputs)) return;
  const path = pathOf("inputs");
  if (inputs.type !== undefined && inputs.type !== "object") {
    const message = `inputs: a context is an object, so type is "object" and not ${shown(inputs.type)} - remove type`;
    yield finding("NOVA501", at(path, "type"), message);
    return;
  }
  for (const key of isObject(inputs.properties) ? Object.keys(inputs.properties) : []) {
    if (!isReserved(key)) continue;
    yield finding("NOVA502", at(path, "properties", key), `inputs: the key "${key}" is reserved for NOVA - rename it`);
  }
  const { problems, secrets } = checkSchema(inputs);
  for (const { segments, message } of problems) yield finding("NOVA501", at(path, ...segments), `inputs: ${message}`);
  for (const segments of secrets) {
    if (isKept(segments)) continue;
    const message =
      "inputs: secret is kept only directly in properties.<key> - move it to the key that holds the value";
    yield finding("NOVA503", at(path, ...segments), message);
  }
}

/** NOVA511: fields that name a secret input and keep its value in the open. */
export function* checkSecretPaths(outlines: readonly Outline[], inputs: unknown): Iterable<Finding> {
  const properties = isObject(inputs) && isObject(inputs.properties) ? Object.entries(inputs.properties) : [];
  const secrets = properties.flatMap(([key, schema]) => (isObject(schema) && schema.secret === true ? [key] : []));
  if (secrets.length === 0) return;
  for (const { id, node, path } of outlines.flatMap(({ nodes }) => nodes)) {
    if (node?.type !== "map" && !(node?.type === "wait" && node.for.kind === "event")) continue;
    const field = node.type === "map" ? "items are" : "event patterns are";
    for (const { place, shown: named, path: dotPath } of pathsIn(node, path)) {
      const secret = secrets.find((key) => dotPath === key || dotPath.startsWith(`${key}.`));
      if (secret === undefined) continue;
      const message = `node "${id}" names ${named}, but "${secret}" is a secret input and ${field} kept in the open - name a value that is not secret`;
      yield finding("NOVA511", place, message);
    }
  }
}

/** A secret covers a whole key of the context. */
function isKept([field, , secret]: readonly (string | number)[]): boolean {
  return field === "properties" && secret === "secret";
}
