import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Changes,
  Context,
  emptyStored,
  loadContext,
  type StoredContext,
  storeContext,
} from "../../../packages/engine/src/context/context.ts";

const keys = (context: Context) => context.slots().map(({ key, json, by }) => `${key}=${json}@${by}`);
const set = (...pairs: [string, string][]) => pairs.map(([key, json]) => ({ key, json }));

it("a context keeps the position of a key whose value is set again, and appends a key that was deleted before", () => {
  const first = new Context().apply({ set: set(["a", "1"], ["b", "2"], ["c", "3"]), delete: [] }, 0);
  const second = first.apply({ set: set(["a", "4"]), delete: ["b"] }, 1);
  const third = second.apply({ set: set(["b", "5"]), delete: [] }, 2);
  expect([first, second, third].map(keys)).toEqual([
    ["a=1@0", "b=2@0", "c=3@0"],
    ["a=4@1", "c=3@0"],
    ["a=4@1", "c=3@0", "b=5@2"],
  ]);
  expect(third.writtenBy(2)).toEqual([{ key: "b", json: "5", by: 2 }]);
});

it("a context keeps a key that one change both deletes and sets", () => {
  const context = new Context([{ key: "a", json: "1", by: 0 }]);
  expect(keys(context.apply({ set: set(["a", "2"]), delete: ["a"] }, 1))).toEqual(["a=2@1"]);
});

it.each([
  ["email.subject", '"hi"'],
  ["email.to.1", '"b"'],
  ["email.to.2", undefined],
  ["amount", "850.0"],
  ["amount.x", undefined],
  ["a.b.c", "1"],
  // The key "a.b" exists, so the rest of the path is looked up in its value, not in the value of "a".
  ["a.b.d", undefined],
  ["missing", undefined],
])("a context returns the value at the path %s", (path, json) => {
  const context = new Context().apply(
    {
      set: set(
        ["email", '{"subject":"hi","to":["a","b"]}'],
        ["amount", "850.0"],
        ["a.b", '{"c":1}'],
        ["a", '{"b":{"d":2}}'],
      ),
      delete: [],
    },
    0,
  );
  expect(context.get(path)).toBe(json);
});

class Pages {
  readonly texts = new Map<string, string>();
  savedBytes = 0;
  async load(sha256: string): Promise<string> {
    return this.texts.get(sha256) as string;
  }
  async save(sha256: string, text: string): Promise<void> {
    this.texts.set(sha256, text);
    this.savedBytes += text.length;
  }
}

/**
 * Builds a chain of contexts. Each context is stored and then loaded from its stored text. The next context is based on
 * the loaded context.
 */
async function chainOf(links: Changes[], check: (loaded: Context, plain: Map<string, string>) => void) {
  const pages = new Pages();
  const plain = new Map<string, string>();
  let stored: StoredContext = emptyStored;
  let context = new Context();
  let largest = 0;
  for (const [i, changes] of links.entries()) {
    for (const key of changes.delete) plain.delete(key);
    for (const { key, json } of changes.set) plain.set(key, json);
    const text = JSON.stringify(await storeContext(context.apply(changes, i), stored, changes, pages));
    largest = Math.max(largest, text.length);
    ({ context, stored } = await loadContext(text, pages));
    check(context, plain);
  }
  return { pages, stored, largest };
}

const asPairs = (context: Context) => context.slots().map(({ key, json }) => [key, json]);

describe("a context that is stored in pages", () => {
  it("has the same keys in the same order as a plain map after any changes", async () => {
    const key = fc.nat(12).map((n) => `k${n}`);
    const value = fc.oneof(
      fc.nat(9).map(String),
      fc.integer({ min: 500, max: 3000 }).map((n) => `"${"x".repeat(n)}"`),
    );
    const changes = fc.record({
      set: fc.uniqueArray(fc.record({ key, json: value }), { selector: (member) => member.key, maxLength: 4 }),
      delete: fc.uniqueArray(key, { maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(changes, { maxLength: 40 }), async (links) => {
        await chainOf(links, (loaded, plain) => expect(asPairs(loaded)).toEqual(Array.from(plain)));
      }),
      { numRuns: 150 },
    );
  });

  it("names for each key the entry that wrote the key, over any number of pages", async () => {
    const links = Array.from({ length: 60 }, (_, i) => ({
      set: [{ key: `k${i % 40}`, json: `"${"x".repeat(900)}"` }],
      delete: [],
    }));
    let last = new Context();
    await chainOf(links, (loaded) => {
      last = loaded;
    });
    expect([last.slot("k5")?.by, last.slot("k25")?.by]).toEqual([45, 25]);
  });

  it("stores a few KB per entry and few pages, even for a long chain", async () => {
    const json = `"${"x".repeat(200)}"`;
    const links = Array.from({ length: 500 }, (_, i) => ({ set: [{ key: `key ${i}`, json }], delete: [] }));
    const { pages, stored, largest } = await chainOf(links, () => undefined);
    expect(largest).toBeLessThan(6000);
    expect(stored.pages.length).toBeLessThan(10);
    // A row is written again only when its page doubles in size, so the number of writes of a row grows
    // logarithmically.
    expect(pages.savedBytes).toBeLessThan(500 * 220 * 10);
  });

  it("hides a deleted key of a page without rewriting the page", async () => {
    const big = Array.from({ length: 20 }, (_, i) => ({ key: `k${i}`, json: `"${"x".repeat(500)}"` }));
    const { pages, stored } = await chainOf(
      [
        { set: big, delete: [] },
        { set: [], delete: ["k3"] },
      ],
      () => undefined,
    );
    expect(pages.texts.size).toBe(1);
    expect(stored).toMatchObject({ removed: ["k3"], deleted: ["k3"], inline: [] });
  });

  it("removes deleted keys from the pages before the list of deleted keys grows long", async () => {
    const links: Changes[] = [
      { set: Array.from({ length: 300 }, (_, i) => ({ key: `key ${i}`, json: '"some value"' })), delete: [] },
    ];
    for (let i = 0; i < 250; i++) links.push({ set: [], delete: [`key ${i}`] });
    const { largest, stored } = await chainOf(links, () => undefined);
    expect(largest).toBeLessThan(6000);
    expect(stored.removed.length).toBeLessThan(130);
  });
});
