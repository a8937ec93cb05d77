import { styled } from "./terminal.ts";

/** A named text under a title; nothing where there is none. */
export function section(name: string, text: string | null | undefined): string[] {
  return text ? [styled("cyan", `${name}:`), indented(text)] : [];
}

export function indented(text: string): string {
  return text.trimEnd().replaceAll(/^/gm, "  ");
}
