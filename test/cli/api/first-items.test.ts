import { expect, it } from "vitest";
import { firstItems, readLimit } from "../../../packages/cli/src/api/first-items.ts";

const all = Array.from({ length: 450 }, (_, n) => n);

/** A list in pages as the API has them; what is asked is written down. */
function list(asked: object[]) {
  return async ({ limit, cursor = "0" }: { limit: number; cursor?: string }) => {
    asked.push({ limit, cursor });
    const end = Number(cursor) + limit;
    return { items: all.slice(Number(cursor), end), next_cursor: end < all.length ? String(end) : null };
  };
}

it.each([
  [3, 3, [{ limit: 3, cursor: "0" }]],
  [
    250,
    250,
    [
      { limit: 200, cursor: "0" },
      { limit: 50, cursor: "200" },
    ],
  ],
  [Number.POSITIVE_INFINITY, 450, ["0", "200", "400"].map((cursor) => ({ limit: 200, cursor }))],
])("the first %d of a list are %d, and no page more is asked for", async (most, length, pages) => {
  const asked: object[] = [];
  expect(await firstItems(most, list(asked))).toEqual(all.slice(0, length));
  expect(asked).toEqual(pages);
});

it.each(["0", "-1", "1.5", "many", ""])("a limit of %j is none", (text) => {
  expect(() => readLimit(text)).toThrow("is not a whole number above 0");
  expect(readLimit("7")).toBe(7);
});
