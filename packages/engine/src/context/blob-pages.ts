import { LRUCache } from "lru-cache";
import type { BlobHome, BlobStore } from "../ports/blobs.ts";
import type { PageStore } from "./pages.ts";

/** Pages kept in a warm Lambda, in characters over all executions. */
const maxKept = 16 * 1024 * 1024;
const caches = new WeakMap<BlobStore, LRUCache<string, string>>();

/** Context pages as blobs of the execution; immutable, so a warm Lambda keeps the recent ones. */
export function blobPages(blobs: BlobStore, home: BlobHome): PageStore {
  const cache =
    caches.get(blobs) ?? new LRUCache<string, string>({ maxSize: maxKept, sizeCalculation: (text) => text.length + 1 });
  caches.set(blobs, cache);
  const keyOf = (sha256: string) => `${home.client}/${home.root}/${sha256}`;
  return {
    async load(sha256) {
      const kept = cache.get(keyOf(sha256));
      if (kept !== undefined) return kept;
      const text = Buffer.from(await blobs.get(home, sha256)).toString();
      cache.set(keyOf(sha256), text);
      return text;
    },
    async save(sha256, text) {
      const body = Buffer.from(text);
      await blobs.put(home, { sha256, bytes: body.length, type: "json" }, body);
      cache.set(keyOf(sha256), text);
    },
  };
}
