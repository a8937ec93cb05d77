import { contentText } from "../chain/contents.ts";
import { headOf } from "../chain/head.ts";
import { contextAfter } from "../chain/position.ts";
import { type Changes, type Context, changesBetween, linkLabel } from "../context/context.ts";
import { loadStored } from "../context/pages.ts";
import { chainBroken } from "../errors.ts";
import type { LinkId } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";

/** One change of a key: `json` is its new text, null where it was deleted. */
export interface KeyChange {
  seq: number;
  node: string;
  json: string | null;
}

/** The context as it was behind a link: every link is a checkpoint. Throws `ChainBroken` where there is no such link. */
export async function contextAt(ports: Ports, at: LinkId): Promise<Context> {
  const { entry } = await ports.chain.read(at);
  if (!entry) throw chainBroken(`execution ${at.execution} has no link ${at.seq}`);
  return (await contextAfter(entry, ports.blobs)).context;
}

/** The changes that take the context at link `from` back to what it was at link `to`. */
export async function rollback(ports: Ports, from: LinkId, to: number): Promise<Changes> {
  return changesBetween(await contextAt(ports, from), await contextAt(ports, { ...from, seq: to }));
}

/** Who set or deleted a top-level key, in order. */
export async function historyOf(ports: Ports, execution: string, key: string, scope = ""): Promise<KeyChange[]> {
  const changes: KeyChange[] = [];
  for await (const link of ports.chain.links(execution, scope)) {
    const content = link.entry?.contents.context;
    if (!link.entry || !content) continue;
    const head = headOf(link.entry);
    const { deleted } = loadStored(await contentText(content, head, ports.blobs));
    const slot = (await contextAfter(link.entry, ports.blobs)).context.slot(key);
    if (deleted.includes(key)) changes.push({ seq: link.seq, node: head.node_id, json: null });
    else if (slot?.by === linkLabel(head)) changes.push({ seq: link.seq, node: head.node_id, json: slot.json });
  }
  return changes;
}
