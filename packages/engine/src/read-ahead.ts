/**
 * Starts to read a sequence at once, and holds at most `max` of its items until the caller takes them. The items keep
 * their order. Items that the caller does not take are dropped.
 */
export function readAhead<T>(source: AsyncGenerator<T>, max = 2): AsyncGenerator<T> {
  const read = () => {
    const item = source.next();
    // The caller gets this error when it takes the item. Without a handler before that, Node would end the process.
    item.catch(() => undefined);
    return item;
  };
  const held = Array.from({ length: max }, read);
  return passOn(source, held, read);
}

async function* passOn<T>(
  source: AsyncGenerator<T>,
  held: Promise<IteratorResult<T>>[],
  read: () => Promise<IteratorResult<T>>,
): AsyncGenerator<T> {
  try {
    for (let item = await held.shift(); item && !item.done; item = await held.shift()) {
      held.push(read());
      yield item.value;
    }
  } finally {
    await source.return(undefined);
  }
}

/** Yields the items in groups of at most `size`. */
export async function* groupItems<T>(items: AsyncIterable<T> | Iterable<T>, size: number): AsyncGenerator<T[]> {
  let group: T[] = [];
  for await (const item of items) {
    if (group.push(item) < size) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}
