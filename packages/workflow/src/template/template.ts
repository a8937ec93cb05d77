import { at } from "../findings/text.ts";
import type { JsonValue } from "../json/value.ts";
import type { Node } from "../workflow.ts";

/**
 * `email.attachments.0.name`: keys of objects and numbers of lists, none empty, no blanks at their ends; and nothing that
 * looks like an expression, because none would be computed.
 */
export const dotPathPattern = /^[^\s.{}|+*"'[\]]+( +[^\s.{}|+*"'[\]]+)*(\.[^\s.{}|+*"'[\]]+( +[^\s.{}|+*"'[\]]+)*)*$/;

export type TemplatePart = { kind: "text"; text: string } | { kind: "path"; path: string };

const gap = /\{\{([^{}]*)\}\}/g;

/**
 * `Pay {{invoice.total}}?` in its parts: text as it is, and dot paths into the context, blanks around them dropped.
 * Braces around anything else stay text, so that every text is a template.
 */
export function templateParts(text: string): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let done = 0;
  const takeText = (end: number) => {
    if (end > done) parts.push({ kind: "text", text: text.slice(done, end) });
  };
  for (const { 0: whole, 1: inside = "", index } of text.matchAll(gap)) {
    const path = inside.trim();
    if (!dotPathPattern.test(path)) continue;
    takeText(index);
    parts.push({ kind: "path", path });
    done = index + whole.length;
  }
  takeText(text.length);
  return parts;
}

/** The path of a text that is nothing but one `{{dot.path}}`. */
export function onlyPath(text: string): string | undefined {
  const [part, ...others] = templateParts(text.trim());
  return part?.kind === "path" && others.length === 0 ? part.path : undefined;
}

/** Braces that were to be a gap and are none, as they stand in the text; undefined where all is well. */
export function brokenGap(text: string): string | undefined {
  for (const part of templateParts(text)) {
    const broken = part.kind === "text" ? /\{\{[^{}]{0,60}(\}\})?|\}\}/.exec(part.text)?.[0] : undefined;
    if (broken !== undefined) return broken;
  }
  return undefined;
}

/** A dot path into the context that a field of a node names. */
interface NamedPath {
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
