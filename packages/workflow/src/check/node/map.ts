import { finding } from "../../findings/finding.ts";
import { at } from "../../findings/path.ts";
import type { FieldCheck } from "./field-check.ts";
import { checkKey } from "./key.ts";

export const checkMap: FieldCheck = function* (node, place) {
  yield* checkKey(node, "as", place);
  yield* checkKey(node, "into", place);
  if (node.as !== "index") return;
  const message = `${place.name}: as is "index", where the number of the item goes - use another key`;
  yield finding("NOVA502", at(place.path, "as"), message);
};
