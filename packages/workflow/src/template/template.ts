import { at } from "../findings/finding.ts";
import type { JsonValue } from "../json/exact.ts";
import type { Node } from "../workflow.ts";

/**
 * Matches a dot path of keys and indexes, such as `email.attachments.0.name`. Characters of expressions do not match,
 * because NOVA evaluates no expressions.
 */
export const dotPathPattern = /^[^\s.{}|+*"'[\]]+( +[^\s.{}|+*"'[\]]+)*(\.[^\s.{}|+*"'[\]]+( +[^\s.{}|+*"'[\]]+)*)*$/;

export type TemplatePart = { kind: "text"; text: string } | { kind: "path"; path: string };

const gap = /\{\{([^{}]*)\}\}/g;

/**
 * Splits a template such as `Pay {{invoice.total}}?` into texts and dot paths into the context. Double braces around
 * anything else stay text.
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

export function onlyPath(text: string): string | undefined {
  const [part, ...others] = templateParts(text.trim());
  return part?.kind === "path" && others.length === 0 ? part.path : undefined;
}

/** Returns the first double braces in a template that contain no dot path; undefined for a correct template. */
export function brokenGap(text: string): string | undefined {
  for (const part of templateParts(text)) {
    const broken = part.kind === "text" ? /\{\{[^{}]{0,60}(\}\})?|\}\}/.exec(part.text)?.[0] : undefined;
    if (broken !== undefined) return broken;
  }
  return undefined;
}

/** A dot path into the context, which occurs in a field of a node. */
interface NamedPath {
  place: string;
  /** The path as written: `{{ticket.id}}`, or `ticket.id`. */
  shown: string;
  path: string;
}

/** Returns every dot path in the fields of a node, except those in its code. `place` is the path of the node. */
export function pathsIn(node: Node, place: string): NamedPath[] {
  if (node.type === "approval") return inText(node.message, at(place, "message"));
  if (node.type === "map") return [{ place: at(place, "items"), shown: node.items, path: node.items }];
  if (node.type === "wait" && node.for.kind === "until") return inText(node.for.until, at(place, "until"));
  if (node.type === "wait" && node.for.kind === "event") return inValue(node.for.pattern, at(place, "event"));
  const mapped = node.type === "workflow" ? Object.entries(node.input ?? {}) : [];
  const named = mapped.filter(([, path]) => path !== "$");
  return named.map(([key, path]) => ({ place: at(place, "input", key), shown: path, path }));
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
