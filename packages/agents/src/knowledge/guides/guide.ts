import { createHash } from "node:crypto";
import type { Guide } from "../../parts.ts";
import { readFromShelf } from "../shelf.ts";

const read = new Map<string, Guide>();

/** @throws where there is no such guide: `topics` lists them. */
export function readGuide(name: string): Guide {
  const known = read.get(name);
  if (known) return known;
  const text = readFromShelf(`guides/${name}.md`).trim();
  const guide = { name, text, hash: createHash("sha256").update(text).digest("hex") };
  read.set(name, guide);
  return guide;
}
