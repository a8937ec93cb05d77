import type { BlobHome, BlobStore } from "../ports/blobs.ts";
import type { PageStore } from "./pages.ts";

/** Pages kept in a warm Lambda, in bytes of text over all executions. */
const cacheBytes = 16 * 1024 * 1024;
const caches = new WeakMap<BlobStore, Map<string, string>>();

/** Context pages as blobs of the execution; immutable, so a warm Lambda keeps the recent ones. */
export function blobPages(blobs: BlobStore, home: BlobHome): PageStore {
  const cache = caches.get(blobs) ?? new Map<string, string>();
  caches.set(blobs, cache);
  const keyOf = (sha256: string) => `${home.client}/${home.root}/${sha256}`;
  return {
    async load(sha256) {
      const key = keyOf(sha256);
      const text = cache.get(key) ?? Buffer.from(await blobs.get(home, sha256)).toString();
      remember(cache, key, text);
      return text;
    },
    async save(sha256, text) {
      const body = Buffer.from(text);
      await blobs.put(home, { sha256, bytes: body.length, type: "json" }, body);
      remember(cache, keyOf(sha256), text);
    },
  };
}

function remember(cache: Map<string, string>, key: string, text: string): void {
  cache.delete(key);
  cache.set(key, text);
  let total = 0;
  for (const value of cache.values()) total += value.length;
  for (const [oldest, value] of cache) {
    if (total <= cacheBytes) break;
    cache.delete(oldest);
    total -= value.length;
  }
}
