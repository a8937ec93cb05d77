import { atOnce } from "../at-once.ts";
import type { PageStore } from "../context/pages.ts";
import { chainBroken } from "../errors.ts";
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

/** A page is parsed for each of its items, so it is small and has few; more pages make the list of them long. */
const pageBytes = 32 * 1024;
const pageItems = 256;

/** `texts` is the JSON text of each item. */
export async function storeItems(texts: readonly string[], store: PageStore): Promise<ItemPages> {
  const pages = await atOnce(bordersOf(texts), async ({ from, end }): Promise<ItemPage> => {
    const text = `[${texts.slice(from, end).join(",")}]`;
    const page = { sha256: sha256(text), bytes: Buffer.byteLength(text), from, count: end - from };
    await store.save(page.sha256, text);
    return page;
  });
  return { count: texts.length, pages };
}

function bordersOf(texts: readonly string[]): { from: number; end: number }[] {
  const borders: { from: number; end: number }[] = [];
  for (let from = 0; from < texts.length; ) {
    let end = from;
    let size = 0;
    while (end < texts.length && (end === from || (size < pageBytes && end - from < pageItems))) {
      size += (texts[end++] as string).length;
    }
    borders.push({ from, end });
    from = end;
  }
  return borders;
}

/** JSON text of one item. */
export async function readItem({ pages }: ItemPages, index: number, store: PageStore): Promise<string> {
  const page = pageWith(pages, index);
  if (!page) throw chainBroken(`a map has no item ${index} in its pages`);
  return elementsOf(await store.load(page.sha256))[index - page.from] as string;
}

function pageWith(pages: readonly ItemPage[], index: number): ItemPage | undefined {
  let [low, high] = [0, pages.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((pages[middle] as ItemPage).from <= index) low = middle;
    else high = middle - 1;
  }
  const page = pages[low];
  return page && page.from <= index && index < page.from + page.count ? page : undefined;
}
