import { sha256 } from "../json/hash.ts";
import type { BlobStore } from "../ports/blobs.ts";
import type { ContentName, StoredEntry } from "../ports/chain.ts";
import { sealContents } from "./contents.ts";
import type { Head } from "./head.ts";

export type HeadFields = Omit<Head, "format" | "digests">;

/** An entry ready to be put: contents digested (the large ones stored already), head serialised, hash taken over it. */
export async function sealEntry(
  fields: HeadFields,
  texts: Partial<Record<ContentName, string>>,
  blobs: BlobStore,
): Promise<StoredEntry> {
  const { contents, digests } = await sealContents(texts, fields, blobs);
  const head = JSON.stringify({ format: 1, ...fields, digests } satisfies Head);
  return { head, hash: sha256(head), contents };
}
