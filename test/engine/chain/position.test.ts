import { expect, it } from "vitest";
import { readItem, storeItems } from "../../../packages/engine/src/chain/position.ts";

function memory() {
  const texts = new Map<string, string>();
  let loaded = 0;
  return {
    load: async (sha256: string) => {
      loaded++;
      return texts.get(sha256) ?? "";
    },
    save: async (sha256: string, text: string) => void texts.set(sha256, text),
    loads: () => loaded,
  };
}

it("the stored items of a map keep all digits of numbers, and reading one item reads one page of items", async () => {
  const texts = Array.from({ length: 5000 }, (_, i) => `{"n": ${i}.50, "text": "${"x".repeat(i % 90)},]"}`);
  const store = memory();
  const items = await storeItems(texts, store);
  expect(items.count).toBe(5000);
  expect(items.pages.length).toBeGreaterThan(3);
  expect(items.pages.length).toBeLessThan(50);
  for (const index of [0, 1, 499, 2500, 4999]) expect(await readItem(items, index, store)).toBe(texts[index]);
  expect(store.loads()).toBe(5);
});

it("a map can store an empty list of items, and stores a large item in a page of its own", async () => {
  const store = memory();
  expect(await storeItems([], store)).toEqual({ count: 0, pages: [], inline: [] });
  const large = JSON.stringify("x".repeat(100_000));
  const items = await storeItems([large, "1"], store);
  expect(items.pages).toHaveLength(2);
  expect(await readItem(items, 0, store)).toBe(large);
});

it("reading a map's stored item throws an error for an index after the last item", async () => {
  const store = memory();
  await expect(readItem(await storeItems(["1"], store), 1, store)).rejects.toThrow("a map has no item 1");
});

it("the stored items of a map are at most 256 per page, however small they are, and each item can be read", async () => {
  const store = memory();
  const texts = Array.from({ length: 1000 }, (_, i) => String(i));
  const items = await storeItems(texts, store);
  expect(Math.max(...items.pages.map(({ count }) => count))).toBeLessThanOrEqual(256);
  expect(await Promise.all(texts.map((_, index) => readItem(items, index, store)))).toEqual(texts);
});

it("the items of a map are stored in its entry, without a page, if they have at most 4,096 bytes together", async () => {
  const store = memory();
  const texts = [`{"n": 1.50}`, JSON.stringify("é".repeat(2000))];
  const items = await storeItems(texts, store);
  expect(items).toEqual({ count: 2, pages: [], inline: texts });
  expect(await Promise.all([0, 1].map((index) => readItem(JSON.parse(JSON.stringify(items)), index, store)))).toEqual(
    texts,
  );
  await expect(readItem(items, 2, store)).rejects.toThrow("a map has no item 2");
  expect((await storeItems([...texts, JSON.stringify("x".repeat(90))], store)).pages).toHaveLength(1);
});
