import { describe, expect, it } from "vitest";
import { whenAsked } from "../../../packages/aws/src/dynamodb/records.ts";

class Counter {
  count = 0;
  readonly read = { count: () => this.count };
  add(by: number): this {
    this.count += by;
    return this;
  }
}

describe("an entity that is made when it is asked", () => {
  const begin = () => {
    let made = 0;
    const counter = whenAsked(() => {
      made++;
      return new Counter();
    });
    return { counter, made: () => made };
  };

  it("is not made before", () => {
    expect(begin().made()).toBe(0);
  });

  it("is made once, whoever asks", () => {
    const { counter, made } = begin();
    expect([counter.count, counter.read.count(), counter.add(1).count]).toEqual([0, 0, 1]);
    expect(made()).toBe(1);
  });

  it("keeps what its methods change", () => {
    const { counter } = begin();
    const { add } = counter;
    add(2);
    expect(counter.add(3).count).toBe(5);
    expect(counter.read.count()).toBe(5);
  });

  it("is made anew where it could not be made", () => {
    let attempts = 0;
    const entity = whenAsked(() => {
      if (attempts++ === 0) throw new Error("no such table");
      return { name: "key" };
    });
    expect(() => entity.name).toThrow("no such table");
    expect(entity.name).toBe("key");
  });
});
