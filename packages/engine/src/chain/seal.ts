import { defined } from "@nova/workflow";
import { sha256 } from "../json/hash.ts";
import type { BlobStore } from "../ports/blobs.ts";
import type { ContentName, StoredEntry } from "../ports/chain.ts";
import { sealContents } from "./contents.ts";
import type { Head } from "./head.ts";
import type { Position } from "./position.ts";

/** An entry ready to be put: contents digested (the large ones stored already), head serialised, hash taken over it. */
export async function sealEntry(
  fields: Omit<Head, "format" | "digests">,
  texts: Partial<Record<ContentName, string>>,
  blobs: BlobStore,
): Promise<StoredEntry> {
  const { contents, digests } = await sealContents(texts, fields, blobs);
  const head = JSON.stringify({ format: 1, ...fields, digests } satisfies Head);
  return { head, hash: sha256(head), contents };
}

/** What an entry says because of its place, and as the one before it does. */
export function carriedOver({ before, beforeEntry, at }: Position) {
  const { client, root, workflow_id, workflow_version, frozen, fresh } = before;
  const place = { execution_id: at.execution, scope: at.scope, seq: at.seq };
  return {
    ...place,
    ...defined({ client, root, workflow_id, workflow_version, frozen, fresh }),
    prev: beforeEntry.hash,
  };
}
