import { contentText } from "../chain/contents.ts";
import type { Head } from "../chain/head.ts";
import { unlessErased } from "../chain/unless-erased.ts";
import type { ContentName, StoredEntry } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";

/** A content of an entry; null where there is none, or none any more. */
export async function contentOrNull(
  { blobs }: Pick<Ports, "blobs">,
  entry: StoredEntry,
  head: Head,
  name: ContentName,
): Promise<string | null> {
  const content = entry.contents[name];
  return content ? unlessErased(() => contentText(content, head, blobs)) : null;
}
