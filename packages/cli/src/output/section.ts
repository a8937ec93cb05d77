import { stripVTControlCharacters, styleText } from "node:util";

/** A named text under a title; nothing where there is none. What a run printed or a model said moves no cursor here. */
export function section(name: string, text: string | null | undefined): string[] {
  return text ? [styleText("cyan", `${name}:`), indented(stripVTControlCharacters(text))] : [];
}

export function indented(text: string): string {
  return text.trimEnd().replaceAll(/^/gm, "  ");
}
