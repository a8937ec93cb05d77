import type { BlobHome, BlobStore } from "../ports/blobs.ts";
import type { ContentName, StoredContent, StoredEntry } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import { sha256 } from "../sha256.ts";
import type { Head } from "./head.ts";

/**
 * The limit for inline contents of one item. A 400 KB item would cost 400 write units, and a partition would take 2.5
 * commits a second.
 */
export const inlineContentsBytes = 8192;

interface SealedContents<Name extends string> {
  contents: Partial<Record<Name, StoredContent>>;
  digests: Partial<Record<Name, string>>;
}

/** Computes the digests of all contents, and moves the largest ones to blobs until the rest fits an item. */
export async function sealContents<Name extends string>(
  texts: Partial<Record<Name, string>>,
  home: BlobHome,
  blobs: BlobStore,
): Promise<SealedContents<Name>> {
  const sized = (Object.entries(texts) as [Name, string][])
    .map(([name, text]) => ({ name, text, bytes: Buffer.byteLength(text), digest: sha256(text) }))
    .sort((a, b) => a.bytes - b.bytes);
  const sealed: SealedContents<Name> = { contents: {}, digests: {} };
  let inline = 0;
  for (const { name, text, bytes, digest } of sized) {
    inline += bytes;
    sealed.digests[name] = digest;
    if (inline <= inlineContentsBytes) {
      sealed.contents[name] = { text };
    } else {
      await blobs.put(home, { sha256: digest, bytes, type: "text" }, Buffer.from(text));
      sealed.contents[name] = { blob: { sha256: digest, bytes } };
    }
  }
  return sealed;
}

/** Throws `BlobMissing` for a content that was erased. */
export async function contentText(content: StoredContent, home: BlobHome, blobs: BlobStore): Promise<string> {
  return "text" in content ? content.text : Buffer.from(await blobs.get(home, content.blob.sha256)).toString();
}

/** Returns null if the content was erased on request. */
export async function unlessErased<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Error && error.name === "BlobMissing") return null;
    throw error;
  }
}

/** A content of an entry; null if the entry has none, or if it was erased. */
export async function contentOrNull(
  { blobs }: Pick<Ports, "blobs">,
  entry: StoredEntry,
  head: Head,
  name: ContentName,
): Promise<string | null> {
  const content = entry.contents[name];
  return content ? unlessErased(() => contentText(content, head, blobs)) : null;
}

/** Builds an entry to write. It stores large contents, and hashes the head with the digests of all contents. */
export async function sealEntry(
  fields: Omit<Head, "format" | "digests">,
  texts: Partial<Record<ContentName, string>>,
  blobs: BlobStore,
): Promise<StoredEntry> {
  const { contents, digests } = await sealContents(texts, fields, blobs);
  const head = JSON.stringify({ format: 1, ...fields, digests } satisfies Head);
  return { head, hash: sha256(head), contents };
}
