export interface PageQuery {
  limit: number;
  /** Where the page before ended. */
  cursor?: string | undefined;
}

export interface Page<T> {
  items: T[];
  /** There while there is more. */
  cursor?: string;
}

/** What a store is asked for: at most so many, behind this one. */
export interface Range {
  limit: number;
  after?: string | undefined;
}

/** The page that is in front of a list read one item longer than asked for. */
export function pageFrom<T>(found: readonly T[], limit: number, cursorOf: (item: T) => string): Page<T> {
  const items = found.slice(0, limit);
  const last = items.at(-1);
  return last !== undefined && found.length > limit ? { items, cursor: cursorOf(last) } : { items };
}

/** A page of a store's list; an item that is read and not shown tells whether there is a next one. */
export async function readPage<T>(
  { limit, cursor }: PageQuery,
  list: (range: Range) => Promise<T[]>,
  cursorOf: (item: T) => string,
): Promise<Page<T>> {
  return pageFrom(await list({ limit: limit + 1, after: cursor }), limit, cursorOf);
}

/** Everything that comes in pages, each read when it is wanted. */
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
