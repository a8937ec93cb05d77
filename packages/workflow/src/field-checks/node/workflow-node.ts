import { contextKeyPattern } from "../../authored/fields.ts";
import { type Finding, finding } from "../../findings/finding.ts";
import { at } from "../../findings/path.ts";
import { isObject } from "../../json/loose.ts";
import { isReserved } from "../reserved.ts";
import type { FieldCheck, NodePlace } from "./field-check.ts";

/** The keys on both sides of a workflow node, and that its own id can be one. */
export const checkWorkflowNode: FieldCheck = function* (node, place) {
  yield* checkMappings(node, place);
  if (node.output !== undefined || typeof node.id !== "string" || !isReserved(node.id)) return;
  const message = `${place.name}: what it brings would go to the key "${node.id}", which is reserved for NOVA - add "output" with other keys`;
  yield finding("NOVA502", at(place.path, "id"), message);
};

function* checkMappings(node: Record<string, unknown>, place: NodePlace): Iterable<Finding> {
  for (const field of ["input", "output"] as const) {
    const mapping = node[field];
    for (const key of isObject(mapping) ? Object.keys(mapping) : []) yield* checkMappedKey(key, field, place);
  }
}

function* checkMappedKey(key: string, field: "input" | "output", { name, path }: NodePlace): Iterable<Finding> {
  const where = at(path, field, key);
  if (isReserved(key)) {
    yield finding("NOVA502", where, `${name}: the key "${key}" is reserved for NOVA - use another one in ${field}`);
  } else if (!contextKeyPattern.test(key)) {
    const message = `${name}: ${field} has the key "${key}", which is none - begin with a letter or _, then letters, digits, _ or -`;
    yield finding("NOVA418", where, message);
  }
}
