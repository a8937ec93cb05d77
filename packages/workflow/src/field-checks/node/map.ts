import { type Finding, finding } from "../../findings/finding.ts";
import { at } from "../../findings/path.ts";
import type { FieldCheck, NodePlace } from "./field-check.ts";
import { checkKey } from "./key.ts";

export const checkMap: FieldCheck = function* (node, place) {
  yield* checkKey(node, "as", place);
  yield* checkKey(node, "into", place);
  if (node.as === "index") {
    const message = `${place.name}: as is "index", where the number of the item goes - use another key`;
    yield finding("NOVA502", at(place.path, "as"), message);
  }
  yield* node.workflow === undefined ? checkBody(node, place) : checkChild(node, place);
};

function* checkBody(node: Record<string, unknown>, { name, path }: NodePlace): Iterable<Finding> {
  for (const list of ["nodes", "edges"].filter((field) => node[field] === undefined)) {
    yield finding("NOVA106", path, `${name} has no "${list}" - add it`);
  }
  for (const field of ["version", "input", "output"].filter((field) => node[field] !== undefined)) {
    const message = `${name}: ${field} belongs to a map that runs a workflow - remove it, or add workflow instead of nodes and edges`;
    yield finding("NOVA420", at(path, field), message);
  }
}

/** What it says of the workflow is checked in the node that stands for it. */
function* checkChild(node: Record<string, unknown>, { name, path }: NodePlace): Iterable<Finding> {
  for (const field of ["nodes", "edges"].filter((field) => node[field] !== undefined)) {
    const message = `${name} has both workflow and ${field} - keep workflow, or nodes and edges`;
    yield finding("NOVA420", at(path, field), message);
  }
}
