/**
 * Calls `work` for every item, at most `max` at a time, and returns the results in the items' order. Rejects at the
 * first failure.
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
