/** How many branches are read or closed at once: a map has thousands. */
const maxAtOnce = 16;

/** `work` on every item, a bounded number at a time; answers in the items' order. The first failure ends it. */
export async function atOnce<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const mine = next++;
      results[mine] = await work(items[mine] as T);
    }
  };
  await Promise.all(Array.from({ length: Math.min(maxAtOnce, items.length) }, worker));
  return results;
}
