import { expect, it } from "vitest";
import { firstItems, readCount } from "../../../packages/cli/src/api/ask.ts";

it.each([3, 250, Number.POSITIVE_INFINITY])("firstItems takes %d items of a list, and reads no more", async (max) => {
  let read = 0;
  async function* list() {
    while (read < 450) yield read++;
  }
  const found = await firstItems(max, list());
  expect(found).toEqual(Array.from({ length: Math.min(max, 450) }, (_, n) => n));
  expect(read).toBeLessThanOrEqual(found.length + 1);
});

it.each(["0", "-1", "1.5", "many", ""])("readCount refuses the limit %j", (text) => {
  expect(() => readCount("--limit", text)).toThrow("is not a whole number above 0");
  expect(readCount("--limit", "7")).toBe(7);
});
