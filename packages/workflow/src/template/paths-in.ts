import { at } from "../findings/path.ts";
import type { JsonValue } from "../json/value.ts";
import type { Node } from "../workflow.ts";
import { templateParts } from "./template.ts";

/** A dot path into the context that a field of a node names. */
export interface NamedPath {
  /** Of the field, in the definition. */
  place: string;
  /** As it is written: `{{ticket.id}}`, or `ticket.id`. */
  shown: string;
  path: string;
}

/** Every dot path that a node names, besides those in its code; `place` is where the node is. */
export function pathsIn(node: Node, place: string): NamedPath[] {
  switch (node.type) {
    case "approval":
      return inText(node.message, at(place, "message"));
    case "wait":
      if (node.for.kind === "until") return inText(node.for.until, at(place, "until"));
      return node.for.kind === "event" ? inValue(node.for.pattern, at(place, "event")) : [];
    case "map":
      return [{ place: at(place, "items"), shown: node.items, path: node.items }];
    case "workflow":
      return Object.entries(node.input ?? {}).flatMap(([key, path]) =>
        path === "$" ? [] : [{ place: at(place, "input", key), shown: path, path }],
      );
    default:
      return [];
  }
}

function inText(text: string, place: string): NamedPath[] {
  return templateParts(text).flatMap((part) =>
    part.kind === "path" ? [{ place, shown: `{{${part.path}}}`, path: part.path }] : [],
  );
}

function inValue(value: JsonValue | undefined, place: string): NamedPath[] {
  if (typeof value === "string") return inText(value, place);
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    inValue(inner, at(place, Array.isArray(value) ? Number(key) : key)),
  );
}
