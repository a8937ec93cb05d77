import { describe, expect, it } from "vitest";
import type { Json } from "../../../../packages/local/src/json.ts";
import { DefinitionRejected } from "../../../../packages/local/src/states/asl/failure.ts";
import { compilePath, compileResultPath, PathNotFound } from "../../../../packages/local/src/states/asl/path.ts";

const store = {
  books: [
    { title: "A", price: 10, tags: ["x", "y"] },
    { title: "B", price: 20 },
    { title: "C", price: 30 },
  ],
  "odd key": { "a.b": 1, "it's": 2 },
  größe: 3,
  nothing: null,
  "with-dash_1": true,
};

function read(path: string, data: Json = store): Json {
  return compilePath(path, "$").read({
    data,
    context: { State: { Name: "S" } },
  });
}

describe("reading a path", () => {
  it.each([
    ["$", store],
    ["$.books[0].title", "A"],
    ["$['books'][1]['price']", 20],
    ['$["odd key"]["a.b"]', 1],
    ["$['odd key']['it\\'s']", 2],
    ["$.größe", 3],
    ["$.with-dash_1", true],
    ["$.nothing", null],
    ["$.books[-1].title", "C"],
    ["$$.State.Name", "S"],
    ["$.books[*].title", ["A", "B", "C"]],
    ["$.books[0:2].price", [10, 20]],
    ["$.books[-2:].price", [20, 30]],
    ["$.books[:1].price", [10]],
    ["$.books[0,2].title", ["A", "C"]],
    ["$.books[0]['title', 'price']", ["A", 10]],
    ["$..title", ["A", "B", "C"]],
    ["$.books[0].*", ["A", 10, ["x", "y"]]],
    ["$..tags[1]", ["y"]],
    ["$.books[*].missing", []],
  ])("%s finds what is there", (path, expected) => {
    expect(read(path)).toEqual(expected);
  });

  it.each([
    ["$.missing", "No results for path: $['missing']"],
    ["$.no.such.path", "Missing property in path $['no']"],
    ["$.books[9]", "No results for path: $['books'][9]"],
    ["$.nothing.inside", "No results for path: $['nothing']['inside']"],
    ["$.books.title", "No results for path: $['books']['title']"],
    ["$.toString", "No results for path: $['toString']"],
  ])("%s says as AWS does that nothing is there", (path, message) => {
    expect(() => read(path)).toThrow(new PathNotFound(message));
  });

  it.each([
    ["books", /must start with "\$"/],
    ["$.books[?(@.price > 10)]", /filter expressions/],
    ["$.books.length()", /use an intrinsic function/],
    ["$.", /unexpected end/],
    ["$.a[", /unexpected end/],
    ["$.a['b'", /unexpected end/],
    ["$variable", /unexpected "v"/],
    ["$.a b", /unexpected " "/],
  ])("%s is rejected with the reason", (path, message) => {
    expect(() => compilePath(path, "$.States.S.InputPath")).toThrow(message);
    expect(() => compilePath(path, "$.States.S.InputPath")).toThrow(DefinitionRejected);
  });
});

describe("writing a result", () => {
  const write = (path: unknown, input: Json, result: Json) => compileResultPath(path, "$")(input, result);

  it.each([
    [undefined, { a: 1 }, 2, 2],
    ["$", { a: 1 }, 2, 2],
    [null, { a: 1 }, 2, { a: 1 }],
    ["$.r", { a: 1 }, 2, { a: 1, r: 2 }],
    ["$.a.b.c", { a: { x: 1 } }, 2, { a: { x: 1, b: { c: 2 } } }],
    ["$['a']", { a: 1 }, [], { a: [] }],
    ["$.list[1]", { list: [1, 2, 3] }, 9, { list: [1, 9, 3] }],
    ["$.list[0].b", { list: [{ a: 1 }] }, 9, { list: [{ a: 1, b: 9 }] }],
  ])("at %s", (path, input, result, expected) => {
    const before = structuredClone(input);
    expect(write(path, input, result)).toEqual(expected);
    expect(input).toEqual(before);
  });

  it("makes a key named __proto__ a key like any other", () => {
    const written = write("$.__proto__", { a: 1 }, { polluted: true });
    expect(JSON.stringify(written)).toBe('{"a":1,"__proto__":{"polluted":true}}');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it.each([
    ["$.r", "text"],
    ["$.a.b", { a: 1 }],
    ["$.list[5]", { list: [] }],
    ["$.a[0]", { a: {} }],
  ])("at %s fails where the input has no place for it", (path, input) => {
    expect(() => write(path, input, 1)).toThrow(/States.ResultPathMatchFailure: Unable to apply step/);
  });

  it.each(["$.a[*]", "$..a", "$$.x", "$[0:1]", 7])("at %s is rejected: it names no single place", (path) => {
    expect(() => compileResultPath(path, "$")).toThrow(DefinitionRejected);
  });
});
