import type { PageStore } from "../context/pages.ts";
import { NovaError } from "../errors.ts";
import { sha256 } from "../json/hash.ts";
import { elementsOf } from "../json/text.ts";

/**
 * Where the items of a map are: blobs that each hold a JSON list, so that an item costs one page, however long the
 * list is. `from` is the number of a page's first item.
 */
export interface ItemPages {
  count: number;
  pages: ItemPage[];
}

export interface ItemPage {
  sha256: string;
  bytes: number;
  from: number;
  count: number;
}

/** A page is parsed for each of its items; more pages than a few hundred make the list of them long. */
const pageBytes = 32 * 1024;

/** `texts` is the JSON text of each item. */
export async function storeItems(texts: readonly string[], store: PageStore): Promise<ItemPages> {
  const pages: ItemPage[] = [];
  let from = 0;
  while (from < texts.length) {
    let end = from;
    let size = 0;
    while (end < texts.length && (end === from || size < pageBytes)) size += (texts[end++] as string).length;
    const text = `[${texts.slice(from, end).join(",")}]`;
    const page = { sha256: sha256(text), bytes: Buffer.byteLength(text), from, count: end - from };
    await store.save(page.sha256, text);
    pages.push(page);
    from = end;
  }
  return { count: texts.length, pages };
}

/** JSON text of one item. */
export async function readItem({ pages }: ItemPages, index: number, store: PageStore): Promise<string> {
  const page = pages.find(({ from, count }) => from <= index && index < from + count);
  if (!page) throw new NovaError("ChainBroken", `a map has no item ${index} in its pages`);
  return elementsOf(await store.load(page.sha256))[index - page.from] as string;
}
