import { describe, expect, it } from "vitest";
import { z } from "zod";
import { detailsIn } from "../../functions/details.ts";

const Run = z.object({ id: z.string() });
const event = (id: string) => ({ source: "nova", detail: { id } });

describe("what an invocation is about", () => {
  it.each<[string, unknown, string[]]>([
    ["is named", { id: "a" }, ["a"]],
    ["is an event of the bus", event("a"), ["a"]],
    [
      "comes from a queue",
      { Records: [{ body: JSON.stringify(event("a")) }, { body: JSON.stringify(event("b")) }] },
      ["a", "b"],
    ],
    ["is nothing, of an empty batch", { Records: [] }, []],
  ])("%s", (_, given, ids) => {
    expect(detailsIn(given, Run).map(({ id }) => id)).toEqual(ids);
  });

  it.each<[string, unknown]>([
    ["something else", { name: "a" }],
    ["an event of something else", { detail: { name: "a" } }],
    ["a message that is no event", { Records: [{ body: '"a"' }] }],
    ["a message that is no JSON", { Records: [{ body: "a" }] }],
  ])("is never %s", (_, given) => {
    expect(() => detailsIn(given, Run)).toThrow();
  });
});
