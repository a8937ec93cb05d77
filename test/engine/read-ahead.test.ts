import { describe, expect, it } from "vitest";
import { groupItems, readAhead } from "../../packages/engine/src/trace/proof.ts";

/** Yields the numbers up to `last`, and adds each number to `made` when the caller asks for it. */
async function* countTo(last: number, made: number[]): AsyncGenerator<number> {
  try {
    for (let n = 1; n <= last; n++) {
      made.push(n);
      yield n;
    }
  } finally {
    made.push(0);
  }
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe("readAhead", () => {
  it("starts to read at once, reads at most `max` items ahead, and yields the items in order", async () => {
    const made: number[] = [];
    const items = readAhead(countTo(5, made), 2);
    await settle();
    expect(made).toEqual([1, 2]);
    expect((await items.next()).value).toBe(1);
    await settle();
    expect(made).toEqual([1, 2, 3]);
    expect(await Array.fromAsync(items)).toEqual([2, 3, 4, 5]);
    expect(made.at(-1)).toBe(0);
  });

  it("yields nothing for an empty sequence", async () => {
    expect(await Array.fromAsync(readAhead(countTo(0, [])))).toEqual([]);
  });

  it("throws an error of the sequence only after the items before the error", async () => {
    async function* breaking(): AsyncGenerator<number> {
      yield 1;
      throw new RangeError("broke");
    }
    const items = readAhead(breaking(), 3);
    await settle();
    expect((await items.next()).value).toBe(1);
    await expect(items.next()).rejects.toThrow("broke");
  });

  it("ends the sequence if the caller takes no further items", async () => {
    const made: number[] = [];
    for await (const item of readAhead(countTo(100, made), 2)) if (item === 2) break;
    expect(made.slice(-2)).toEqual([4, 0]);
  });
});

describe("groupItems", () => {
  it("yields groups of equal size, and the remaining items as a smaller last group", async () => {
    expect(await Array.fromAsync(groupItems([1, 2, 3, 4, 5], 2))).toEqual([[1, 2], [3, 4], [5]]);
    expect(await Array.fromAsync(groupItems(countTo(4, []), 2))).toEqual([
      [1, 2],
      [3, 4],
    ]);
    expect(await Array.fromAsync(groupItems([], 2))).toEqual([]);
  });
});
