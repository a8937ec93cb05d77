export interface Page<T> {
  items: T[];
  next_cursor: string | null;
}

/** Every item of a list, page by page, read when they are wanted. */
export async function* itemsOf<T>(pageAt: (cursor: string | undefined) => Promise<Page<T>>): AsyncGenerator<T> {
  let cursor: string | undefined;
  do {
    const { items, next_cursor } = await pageAt(cursor);
    yield* items;
    cursor = next_cursor ?? undefined;
  } while (cursor !== undefined);
}

/** A query with its cursor; an absent one is no field. */
export function queryAt<T extends object>(query: T, cursor: string | undefined): T & { cursor?: string } {
  return cursor === undefined ? query : { ...query, cursor };
}
