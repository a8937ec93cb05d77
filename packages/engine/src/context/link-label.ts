import type { LinkId } from "../ports/chain.ts";

/** Who wrote a key: the link's number on the main line, its scope too in a branch, so that scopes can share pages. */
export type LinkLabel = number | string;

export function linkLabel({ scope, seq }: Omit<LinkId, "execution">): LinkLabel {
  return scope === "" ? seq : `${scope}#${seq}`;
}

/** Whether a link with this label is in a branch, or in a branch inside of that. */
export function isWithin(label: LinkLabel, scope: string): boolean {
  return typeof label === "string" && (label.startsWith(`${scope}#`) || label.startsWith(`${scope}/`));
}
