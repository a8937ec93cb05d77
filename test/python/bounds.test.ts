import { describe, expect, it } from "vitest";
import { checkNodeCode, checkPython, contextAccess, keysSet, reboundContext } from "../../packages/python/src/index.ts";

const chain = (operator: string, length: number) => `x = ${Array(length).fill("1").join(operator)}`;
const nested = (open: string, close: string, levels: number) => `x = ${open.repeat(levels)}1${close.repeat(levels)}`;

const deep = [
  ["additions", chain("+", 2000)],
  ["powers", chain("**", 2000)],
  ["brackets", nested("(", ")", 1000)],
  ["lists", nested("[", "]", 1000)],
  ["calls", nested("f(", ")", 1000)],
  ["brackets that nothing closes", nested("(", "", 1000)],
  ["attributes", `x = context${".a".repeat(2000)}`],
  ["negations", nested("not ", "", 1000)],
  ["lambdas", nested("lambda: ", "", 1000)],
  ["conditions", nested("1 if a else ", "", 1000)],
] as const;

describe("code beyond the bounds", () => {
  it.each(deep)("is not checked where it has too many %s, and ruff goes on working", async (_what, source) => {
    const message = expect.stringMatching(/^the code goes more than 500 levels deep - divide/);
    expect(await checkPython(source)).toEqual([{ kind: "size", message, line: 1, column: 1 }]);
    expect(await checkNodeCode(source, { nodeType: "action" })).toMatchObject([{ code: "PY105", message }]);
    expect(await checkPython("x = y")).toMatchObject([{ kind: "name" }]);
  });

  it("is not checked where it is too long", async () => {
    const message = "the code has 760,003 characters, at most 200,000 are checked - ";
    const found = await checkPython(chain("+", 380_000), { fileName: "find.py" });
    expect(found).toMatchObject([{ kind: "size", message: expect.stringContaining(message), file: "find.py" }]);
  });

  it("names no keys", async () => {
    expect(await contextAccess(`context["a"] = 1\n${chain("+", 2000)}`)).toEqual({ reads: [], sets: [], deletes: [] });
  });
});

describe("code within the bounds", () => {
  it.each([
    ["400 additions", chain("+", 400)],
    ["200 brackets", nested("(", ")", 200)],
    ["2,000 branches of one if", `a = 1\nif a: pass\n${"elif a: pass\n".repeat(2000)}`],
    ["a list of 10,000 numbers", `x = [${"1,".repeat(10_000)}]`],
  ])("may have %s", async (_what, source) => {
    expect(await checkPython(source)).toEqual([]);
  });
});

describe("long code", () => {
  const lines = Array.from({ length: 7_000 }, (_, i) => i);

  it("has the places of all its keys found in one reading", () => {
    const source = lines.map((i) => `context["$${i}"] = 1`).join("\n");
    const found = keysSet(source, /^\$/);
    expect(found).toHaveLength(lines.length);
    expect(found.at(-1)).toEqual({ key: "$6999", line: 7_000, column: 1 });
  });

  it("has the places of all its new contexts found in one reading", () => {
    const source = lines.map(() => "context = {}").join("\n");
    expect(reboundContext(source)).toMatchObject({ kind: "lost", line: 1 });
  });

  it("has its stages looked for line by line", async () => {
    const found = await checkNodeCode(`${"\n".repeat(190_000)}context["a"] = 1`, { nodeType: "action" });
    expect(found).toEqual([]);
  });
});
