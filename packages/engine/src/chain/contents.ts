import { sha256 } from "../json/hash.ts";
import type { BlobHome, BlobStore } from "../ports/blobs.ts";
import type { StoredContent } from "../ports/chain.ts";

/** What an item holds inline in all: a 400 KB item would cost 400 write units, 2.5 commits a second (protocol, Sizes). */
export const inlineContentsBytes = 8192;

export interface SealedContents<Name extends string> {
  contents: Partial<Record<Name, StoredContent>>;
  digests: Partial<Record<Name, string>>;
}

/** Digests of all contents, and the largest ones moved to blobs until the rest fits an item. */
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
