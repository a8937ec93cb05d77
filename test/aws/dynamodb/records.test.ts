import { describe, expect, it } from "vitest";
import { lazyObject } from "../../../packages/aws/src/dynamodb/records.ts";

class Counter {
  count = 0;
  readonly read = { count: () => this.count };
  add(by: number): this {
    this.count += by;
    return this;
  }
}

describe("an object that is created lazily", () => {
  const begin = () => {
    let made = 0;
    const counter = lazyObject(() => {
      made++;
      return new Counter();
    });
    return { counter, made: () => made };
  };

  it("is not created before its first use", () => {
    expect(begin().made()).toBe(0);
  });

  it("is created only once, even if several callers use it", () => {
    const { counter, made } = begin();
    expect([counter.count, counter.read.count(), counter.add(1).count]).toEqual([0, 0, 1]);
    expect(made()).toBe(1);
  });

  it("has the changes that its own methods have made", () => {
    const { counter } = begin();
    const { add } = counter;
    add(2);
    expect(counter.add(3).count).toBe(5);
    expect(counter.read.count()).toBe(5);
  });

  it("is created at the next use if the first creation failed", () => {
    let attempts = 0;
    const entity = lazyObject(() => {
      if (attempts++ === 0) throw new Error("no such table");
      return { name: "key" };
    });
    expect(() => entity.name).toThrow("no such table");
    expect(entity.name).toBe("key");
  });
});
