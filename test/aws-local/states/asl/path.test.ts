import { describe, expect, it } from "vitest";
import type { Json } from "../../../../packages/aws-local/src/json.ts";
import { DefinitionRejected } from "../../../../packages/aws-local/src/states/asl/failure.ts";
import { compilePath, compileResultPath } from "../../../../packages/aws-local/src/states/asl/path.ts";

const store = {
  books: [
    { title: "A", price: 10, tags: ["x", "y"] },
    { title: "B", price: 20 },
    { title: "C", price: 30 },
  ],
  größe: 3,
  nothing: null,
  "with-dash_1": true,
};

function read(path: string, data: Json = store): Json {
  return compilePath(path, "$").read({ data, context: { State: { Name: "S" } } }, (reason) => {
    throw new RangeError(reason);
  });
}

describe("reading a JSONPath of a state", () => {
  it.each([
    ["$", store],
    ["$.books[0].title", "A"],
    ["$.größe", 3],
    ["$.with-dash_1", true],
    ["$.nothing", null],
    ["$$.State.Name", "S"],
  ])("returns the value at %s", (path, expected) => {
    expect(read(path)).toEqual(expected);
  });

  it.each([
    ["$.missing", "No results for path: $['missing']"],
    ["$.no.such.path", "Missing property in path $['no']"],
    ["$.books[9]", "No results for path: $['books'][9]"],
    ["$.nothing.inside", "No results for path: $['nothing']['inside']"],
    ["$.books.title", "No results for path: $['books']['title']"],
    ["$.toString", "No results for path: $['toString']"],
  ])("throws AWS's error message if there is no value at %s", (path, message) => {
    expect(() => read(path)).toThrow(new RangeError(message));
  });

  it.each([
    ...["books", "$.", "$.a[", "$.a['b'", "$variable", "$.a b", "$['a']", "$.books[-1]", "$.books[*]", "$.books[0:2]"],
    ...["$.books[0,2]", "$..title", "$.books[0].*", "$.books[?(@.price > 10)]", "$.books.length()"],
  ])("rejects the text %s, which is no path to a single value", (path) => {
    expect(() => compilePath(path, "$.States.S.ItemsPath")).toThrow(/not a JSONPath that names one place/);
    expect(() => compilePath(path, "$.States.S.ItemsPath")).toThrow(DefinitionRejected);
  });
});

describe("writing the result of a state", () => {
  const write = (path: unknown, input: Json, result: Json) => compileResultPath(path, "$")(input, result);

  it.each([
    [undefined, { a: 1 }, 2, 2],
    ["$", { a: 1 }, 2, 2],
    [null, { a: 1 }, 2, { a: 1 }],
    ["$.r", { a: 1 }, 2, { a: 1, r: 2 }],
    ["$.a.b.c", { a: { x: 1 } }, 2, { a: { x: 1, b: { c: 2 } } }],
  ])("at the ResultPath %s gives the expected output", (path, input, result, expected) => {
    const before = structuredClone(input);
    expect(write(path, input, result)).toEqual(expected);
    expect(input).toEqual(before);
  });

  it("at the ResultPath $.__proto__ sets an ordinary key, and changes no prototype", () => {
    const written = write("$.__proto__", { a: 1 }, { polluted: true });
    expect(JSON.stringify(written)).toBe('{"a":1,"__proto__":{"polluted":true}}');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it.each([
    ["$.r", "text"],
    ["$.a.b", { a: 1 }],
  ])("at the ResultPath %s fails if the input has a value other than an object on that path", (path, input) => {
    expect(() => write(path, input, 1)).toThrow(/States.ResultPathMatchFailure: Unable to apply step/);
  });

  it.each(["$.a[*]", "$.a[0]", "$..a", "$$.x", "$[0:1]", 7])(
    "at the ResultPath %s is rejected, because that path does not consist of names only",
    (path) => {
      expect(() => compileResultPath(path, "$")).toThrow(DefinitionRejected);
    },
  );
});
