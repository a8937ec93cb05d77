import { dotPathPattern } from "./dot-path.ts";

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
