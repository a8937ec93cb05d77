import { headOf } from "../chain/head.ts";
import { contextAfter, type Position } from "../chain/position.ts";
import { branchOf, linkLabel } from "../chain/scope.ts";
import { referencesIn } from "../context/references.ts";
import type { BlobRef } from "../ports/blobs.ts";
import type { LinkId, StoredEntry } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";

/**
 * Successful entries before a link, as its node may see them: those of the enclosing scopes up to the forks that it is
 * in, outermost first, then those of its own scope. A sibling's are never among them.
 */
export async function* entriesBefore(ports: Pick<Ports, "chain">, at: LinkId): AsyncIterable<StoredEntry> {
  const place = branchOf(at.scope);
  if (place) yield* entriesBefore(ports, { ...at, scope: place.parent, seq: place.seq + 1 });
  for await (const { seq, entry } of ports.chain.links(at.execution, at.scope)) {
    if (seq < at.seq && entry && headOf(entry).status === "success") yield entry;
  }
}

/**
 * Whether some node of the scope wrote a value that this blob is a part of, JSON blobs followed to their leaves. The
 * slow way to know it, for a result whose delivery is gone: what that one had served is not remembered anywhere.
 */
export async function wasWrittenBefore(ports: Ports, { before, at }: Position, sha256: string): Promise<boolean> {
  const seen = new Set<string>();
  for await (const entry of entriesBefore(ports, at)) {
    const { context } = await contextAfter(entry, ports.blobs);
    const waiting: BlobRef[] = context.writtenBy(linkLabel(headOf(entry))).flatMap(({ json }) => referencesIn(json));
    for (const ref of waiting) {
      if (ref.sha256 === sha256) return true;
      if (ref.type !== "json" || seen.has(ref.sha256)) continue;
      seen.add(ref.sha256);
      const text = Buffer.from(await ports.blobs.get(before, ref.sha256)).toString();
      waiting.push(...referencesIn(text));
    }
  }
  return false;
}
