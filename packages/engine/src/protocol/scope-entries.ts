import { contentText } from "../chain/contents.ts";
import { type BranchTip, type Head, headOf } from "../chain/head.ts";
import { contextAfter, type Position } from "../chain/position.ts";
import { branchOf } from "../chain/scope.ts";
import { linkLabel } from "../context/context.ts";
import { referenceKey, referencesIn } from "../context/references.ts";
import type { BlobRef } from "../ports/blobs.ts";
import type { LinkId, StoredEntry } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";

/** A successful entry, and the name under which other nodes find its results; of most joins null. */
export interface NamedEntry {
  node: string | null;
  entry: StoredEntry;
}

/** Successful entries that a node may see: of the scopes around it, outermost first, then of its own. */
export async function* entriesBefore(ports: Ports, { execution, scope, seq }: LinkId): AsyncIterable<NamedEntry> {
  const place = branchOf(scope);
  if (place) yield* entriesBefore(ports, { execution, scope: place.parent, seq: place.seq + 1 });
  yield* entriesOf(ports, execution, scope, seq);
}

async function* entriesOf(ports: Ports, execution: string, scope: string, end: number): AsyncIterable<NamedEntry> {
  let before: Head | undefined;
  for await (const { seq, entry } of ports.chain.links(execution, scope)) {
    if (seq >= end) return;
    if (!entry) continue;
    const head = headOf(entry);
    const fork = head.node_type === "join" ? before : undefined;
    before = head;
    if (head.status !== "success") continue;
    // Items have one name for many results: the map's list stands for them.
    if (fork?.node_type === "map") yield { node: fork.node_id, entry };
    else if (fork) yield* joinedEntries(ports, entry, head);
    else yield { node: head.node_id, entry };
  }
}

async function* joinedEntries(ports: Ports, join: StoredEntry, head: Head): AsyncIterable<NamedEntry> {
  const { branches } = join.contents;
  const tips = branches ? (JSON.parse(await contentText(branches, head, ports.blobs)) as BranchTip[]) : [];
  for (const { scope, seq } of tips) yield* entriesOf(ports, head.execution_id, scope, seq + 1);
  yield { node: null, entry: join };
}

/** Whether a node of the scope wrote a value with this blob: the slow way, when nothing is remembered. */
export async function wasWrittenBefore(ports: Ports, { before, at }: Position, wanted: BlobRef): Promise<boolean> {
  const seen = new Set<string>();
  for await (const { entry } of entriesBefore(ports, at)) {
    const { context } = await contextAfter(entry, ports.blobs);
    const waiting: BlobRef[] = context.writtenBy(linkLabel(headOf(entry))).flatMap(({ json }) => referencesIn(json));
    for (const ref of waiting) {
      if (referenceKey(ref) === referenceKey(wanted)) return true;
      if (ref.type !== "json" || seen.has(ref.sha256)) continue;
      seen.add(ref.sha256);
      const text = Buffer.from(await ports.blobs.get(before, ref.sha256)).toString();
      waiting.push(...referencesIn(text));
    }
  }
  return false;
}
