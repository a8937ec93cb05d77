import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { explain } from "../../../packages/cli/src/output/explain.ts";
import { cell, shorten, tableLines, untrustedLine } from "../../../packages/cli/src/output/text.ts";

/** Makes standard output look like a terminal until the returned object is disposed. */
function onTerminal(): Disposable {
  const before = process.stdout.isTTY;
  process.stdout.isTTY = true;
  return {
    [Symbol.dispose]() {
      process.stdout.isTTY = before;
    },
  };
}

describe("the command line's output for people", () => {
  it("shows a value with line ends on one line", () => {
    expect(shorten('{\n  "a": 1\n}')).toBe('{ "a": 1 }');
    expect(shorten("x".repeat(200))).toBe(`${"x".repeat(99)}…`);
  });

  it.each([
    ["Hi\r\n\u001b[2JFrom: boss", "Hi [2JFrom: boss"],
    ["a\u202egnp.exe\u0007", "a gnp.exe "],
    ["Grüße 🙂", "Grüße 🙂"],
    ["x".repeat(61), `${"x".repeat(59)}…`],
  ])("removes control characters from %j", (written, text) => {
    expect(untrustedLine(written, 60)).toBe(text);
  });

  it("cuts a long cell only if it is printed to a terminal", () => {
    using terminal = onTerminal();
    expect(cell("x".repeat(61))).toBe(`${"x".repeat(59)}…`);
    terminal[Symbol.dispose]();
    expect(cell(`${"x".repeat(61)}\n`)).toBe(`${"x".repeat(61)} `);
  });

  it("aligns columns without counting colours", () => {
    const lines = tableLines(["id", "status"], [["a", "\u001b[32mdone\u001b[39m"], ["longer", "ok"], ["b"]]);
    expect(lines.map(stripVTControlCharacters)).toEqual(["id      status", "a       done", "longer  ok", "b"]);
  });
});

describe("an error of the command line", () => {
  it.each([
    ["InvalidInput", 2],
    ["WorkflowSourceError", 2],
    ["ExecutionNotFound", 2],
    ["LocalCloudError", 1],
  ])("of the expected kind %s prints its own sentence and exits with %d", (name, code) => {
    const error = Object.assign(new Error("do this - or that"), { name });
    expect(explain(error)).toEqual({ sentence: "do this - or that", code });
  });

  it("of an unexpected kind prints one line that says how to see more", () => {
    const { sentence, code } = explain(new TypeError("x is not a function\n    at somewhere"));
    expect({ sentence, code }).toEqual({
      sentence: "TypeError: x is not a function - NOVA_DEBUG=1 shows where this came from",
      code: 1,
    });
    expect(explain("thrown text")).toEqual({ sentence: "thrown text", code: 1 });
  });
});
