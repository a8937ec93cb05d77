import type { Link, LinkId, StoredEntry, Turn } from "@nova/engine";
import { checkFormat, FORMAT } from "../format.ts";
import { ENTRY, type LinkItem, TURN } from "./link-entity.ts";
import { chainPartition } from "./partition.ts";

export function linkKey({ execution, scope, seq }: LinkId, kind: LinkItem["kind"]) {
  return { partition: chainPartition(execution, scope), scope, seq, kind };
}

export function turnItem(at: LinkId, { sandbox, ...turn }: Turn): LinkItem {
  return { ...linkKey(at, TURN), format: FORMAT, ...turn, ...(sandbox !== null && { sandbox }) };
}

export function entryItem(at: LinkId, entry: StoredEntry): LinkItem {
  return { ...linkKey(at, ENTRY), format: FORMAT, ...entry };
}

/** Puts items that arrive in key order, or in its reverse, together into links. */
export function linksOf(items: LinkItem[]): ({ scope: string } & Link)[] {
  const links: ({ scope: string } & Link)[] = [];
  for (const item of items) {
    const { scope, seq } = item;
    const last = links.at(-1);
    const link = last?.scope === scope && last.seq === seq ? last : { scope, seq };
    if (link !== last) links.push(link);
    if (item.kind === TURN) link.turn = turnOf(item);
    else link.entry = entryOf(item);
  }
  return links;
}

function turnOf({ format, node, state, sandbox, attempt, since, ...key }: LinkItem): Turn {
  checkFormat(`the turn at link ${key.seq} of ${key.partition}`, format);
  if (!node || !state || attempt === undefined || !since) throw damaged(key);
  return { node, state, sandbox: sandbox ?? null, attempt, since };
}

function entryOf({ format, head, hash, contents, signature, ...key }: LinkItem): StoredEntry {
  checkFormat(`the entry at link ${key.seq} of ${key.partition}`, format);
  if (head === undefined || hash === undefined) throw damaged(key);
  return { head, hash, contents: contents ?? {}, ...(signature !== undefined && { signature }) };
}

/** A chain item lacks what every item of its kind has. */
export class DamagedLink extends Error {
  override name = "DamagedLink";
}

function damaged({ partition, scope, seq, kind }: Pick<LinkItem, "partition" | "scope" | "seq" | "kind">): DamagedLink {
  const what = kind === TURN ? "turn" : "entry";
  return new DamagedLink(
    `the ${what} at link ${seq} of ${partition}${scope} lacks fields - the table was edited by hand`,
  );
}
