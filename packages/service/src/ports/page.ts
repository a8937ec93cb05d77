export interface PageQuery {
  limit: number;
  cursor?: string | undefined;
}

export interface Page<T> {
  items: T[];
  /** The start of the next page; absent on the last page. */
  cursor?: string;
}

export interface Range {
  limit: number;
  after?: string | undefined;
}

/** Returns the first page of `found`, a list that was read with one item more than `limit`. */
export function pageFrom<T>(found: readonly T[], limit: number, cursorOf: (item: T) => string): Page<T> {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  return last !== undefined && found.length > limit ? { items, cursor: cursorOf(last) } : { items };
}

/** Reads one page of a store's list. It reads one extra item to learn whether another page follows. */
export async function readPage<T>(
  { limit, cursor }: PageQuery,
  list: (range: Range) => Promise<T[]>,
  cursorOf: (item: T) => string,
): Promise<Page<T>> {
  return pageFrom(await list({ limit: limit + 1, after: cursor }), limit, cursorOf);
}

/** Yields every item of a store's list; each page is read on demand. */
export function everyListed<T>(list: (range: Range) => Promise<T[]>, cursorOf: (item: T) => string) {
  return everyItem((cursor) => readPage({ limit: 200, cursor }, list, cursorOf));
}

/** Yields the items of all pages; each page is read on demand. */
export async function* everyItem<T>(
  pageAt: (cursor: string | undefined) => Promise<{ items: readonly T[]; cursor?: string | undefined }>,
): AsyncGenerator<T> {
  let cursor: string | undefined;
  do {
    const page = await pageAt(cursor);
    yield* page.items;
    cursor = page.cursor;
  } while (cursor !== undefined);
}
