/**
 * `work` on every item, `max` at a time (16, as many branches of a map's thousands are read or closed); answers in the
 * items' order. The first failure ends it.
 */
export async function atOnce<T, R>(items: readonly T[], work: (item: T) => Promise<R>, max = 16): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const mine = next++;
      results[mine] = await work(items[mine] as T);
    }
  };
  await Promise.all(Array.from({ length: Math.min(max, items.length) }, worker));
  return results;
}
