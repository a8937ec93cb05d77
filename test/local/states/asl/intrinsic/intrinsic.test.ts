import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { DefinitionRejected } from "../../../../../packages/local/src/states/asl/failure.ts";
import { compileIntrinsic } from "../../../../../packages/local/src/states/asl/intrinsic/compile-intrinsic.ts";
import type { Json } from "../../../../../packages/local/src/states/asl/json.ts";

function evaluate(text: string, data: Json = {}): Json {
  const context = { Execution: { Name: "run" } };
  return compileIntrinsic(text, "$")({ data, context, random: () => 0.5, uuid: randomUUID });
}

describe("intrinsic functions", () => {
  it.each<[string, Json, Json]>([
    ["States.Format('Hello {}, {}!', $.a, 7)", { a: "you" }, "Hello you, 7!"],
    ["States.Format('{} \\{\\} \\'quoted\\'', $)", 1.1, "1.1 {} 'quoted'"],
    ["States.Format('{}', $)", null, "null"],
    [
      "States.Format('fst={} and snd={}', $.a, $.b)",
      { a: { Arg1: 1, Arg2: [] }, b: true },
      "fst={Arg1=1, Arg2=[]} and snd=true",
    ],
    ["States.Format($.t, 'x')", { t: "<{}>" }, "<x>"],
    ["States.Format('{}', $$.Execution.Name)", {}, "run"],
    ["States.StringToJson($.a)", { a: '{"Arg1": 1}' }, { Arg1: 1 }],
    ["States.StringToJson('')", {}, null],
    ["States.JsonToString($)", { a: [1, "x"] }, '{"a":[1,"x"]}'],
    ["States.Array()", {}, []],
    ["States.Array(1, 'two', $.a, true, null, -1.5e2)", { a: {} }, [1, "two", {}, true, null, -150]],
    ["States.ArrayPartition($, 2)", [0, 1, 2], [[0, 1], [2]]],
    ["States.ArrayPartition($, 5)", [], []],
    ["States.ArrayContains($.a, $.b)", { a: [[1, 2], 2], b: [1, 2] }, true],
    ["States.ArrayContains($.a, $.b)", { a: [{ x: 1, y: [] }], b: { y: [], x: 1 } }, true],
    ["States.ArrayContains($.a, $.b)", { a: [], b: null }, false],
    ["States.ArrayRange(0, 10, 3)", {}, [0, 3, 6, 9]],
    ["States.ArrayRange(1, 9, 9)", {}, [1]],
    ["States.ArrayRange(3, 1, -1)", {}, [3, 2, 1]],
    ["States.ArrayGetItem($, 5)", [1, 2, 3, 4, 5, 6], 6],
    ["States.ArrayLength($)", [1, [2, 3]], 2],
    ["States.ArrayUnique($)", [1, 1, "1", { a: 1, b: 2 }, { b: 2, a: 1 }, [], []], [1, "1", { a: 1, b: 2 }, []]],
    ["States.Base64Encode('Data to encode')", {}, "RGF0YSB0byBlbmNvZGU="],
    ["States.Base64Decode('RGF0YSB0byBlbmNvZGU=')", {}, "Data to encode"],
    ["States.Hash('input data', 'MD5')", {}, "812f45842bc6d66ee14572ce20db8e86"],
    ["States.Hash('input data', 'SHA-1')", {}, "aaff4a450a104cd177d28d18d74485e8cae074b7"],
    ["States.Hash('input data', 'SHA-256')", {}, "b4a697a057313163aee33cd8d40c66e9f0f177e00cac2de32475ffff6169c3e3"],
    ["States.JsonMerge($.a, $.b, false)", { a: { x: { p: 1 }, y: 2 }, b: { x: { q: 1 } } }, { x: { q: 1 }, y: 2 }],
    ["States.MathAdd(-9, 3)", {}, -6],
    ["States.MathAdd(1.5, 1.51)", {}, 4],
    ["States.MathAdd(-1.5, -1.51)", {}, -3],
    ["States.MathAdd(-0.5, 0)", {}, 0],
    ["States.MathRandom(10, 20)", {}, 15],
    ["States.StringSplit('This.is+a,test=string', '.+,=')", {}, ["This", "is", "a", "test", "string"]],
    ["States.StringSplit(', , ,', ',')", {}, [" ", " "]],
    ["States.StringSplit(',,,', ',')", {}, []],
    ["States.Format('{}', States.ArrayGetItem(States.StringSplit($.a, '/'), 1))", { a: "p/q" }, "q"],
  ])("%s", (text, data, expected) => {
    expect(evaluate(text, data)).toEqual(expected);
  });

  it("gives the same random number for the same seed, within its bounds", () => {
    const drawn = evaluate("States.MathRandom(0, 999, 3)");
    expect(evaluate("States.MathRandom(0, 999, 3)")).toBe(drawn);
    expect(drawn).toBeGreaterThanOrEqual(0);
    expect(drawn).toBeLessThan(999);
  });

  it("makes a fresh UUID each time", () => {
    expect(evaluate("States.UUID()")).toMatch(/^[\da-f]{8}-[\da-f]{4}-4/);
    expect(evaluate("States.UUID()")).not.toBe(evaluate("States.UUID()"));
  });

  it.each<[string, Json, string | RegExp]>([
    ["States.ArrayGetItem($, 3)", [1], "The index 3 is outside the array"],
    ["States.ArrayGetItem($, 3)", "text", "The first argument must be an array"],
    ["States.StringToJson('{')", {}, /The string is not JSON/],
    ["States.ArrayRange(0, 5000, 1)", {}, /more than 1000 elements/],
    ["States.ArrayRange(0, 1, 0)", {}, /must not be zero/],
    ["States.JsonMerge($, $, true)", {}, /Only shallow merging/],
    ["States.Hash('x', 'CRC')", {}, /The algorithm must be one of MD5/],
    ["States.Format('{} {}', 1)", {}, /2 occurrences of \{\} but 1 arguments/],
    ["States.ArrayLength()", {}, /1 expected, 0 given/],
    ["States.MathAdd('1', 2)", {}, /must be a number/],
    ["States.MathRandom(2, 1)", {}, /start must be less/],
    ["States.ArrayPartition($, 0)", [], /must be positive/],
  ])("%s fails with States.IntrinsicFailure and the reason", (text, data, reason) => {
    expect(() => evaluate(text, data)).toThrow(/^States.IntrinsicFailure: The function 'States/);
    expect(() => evaluate(text, data)).toThrow(reason);
  });

  it("is a runtime error where a path finds nothing", () => {
    expect(() => evaluate("States.JsonToString($.missing)")).toThrow(
      /^States.Runtime: .*No results for path: \$\['missing'\]/,
    );
  });

  it.each([
    ["States.Nope(1)", /States.Nope is not an intrinsic function/],
    ["States.toString()", /is not an intrinsic function/],
    ["States.Array(1", /"\)" is expected/],
    ["States.Array(1) x", /unexpected text/],
    ["States.Array('open)", /a function name/],
    ["States.Array", /"\(" is expected/],
  ])("%s is rejected when the definition is compiled", (text, reason) => {
    expect(() => compileIntrinsic(text, "$")).toThrow(DefinitionRejected);
    expect(() => compileIntrinsic(text, "$")).toThrow(reason);
  });
});
