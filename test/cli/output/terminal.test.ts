import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { print, printError, printWarnings, styled, toTerminal } from "../../../packages/cli/src/output/terminal.ts";
import { tableLines } from "../../../packages/cli/src/output/text.ts";

beforeEach(() => void vi.stubEnv("FORCE_COLOR", "1"));
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

describe("untrusted text in a terminal", () => {
  it.each([
    ["lines, tabs and letters of any language", "a\n\tb ü 日本 😀", "a\n\tb ü 日本 😀"],
    ["line ends of Windows", "a\r\nb", "a\nb"],
    ["a colour", "\u001b[31mred\u001b[0m", "red"],
    ["a sequence that clears the screen", "\u001b[2J\u001b[Hboss", "boss"],
    ["a link", "\u001b]8;;https://evil.example\u0007click\u001b]8;;\u0007", "click"],
    ["an 8-bit colour sequence", "\u009b31mred", "red"],
    ["an incomplete sequence", "a\u001b", "a\\x1b"],
    ["a sequence of another type", "\u001bPq", "q"],
    ["a return to the beginning of the line", "failed\rcompleted", "failed\\x0dcompleted"],
    ["backspaces", "failed\b\b\b", "failed\\x08\\x08\\x08"],
    ["a bell, NUL and DEL", "\u0007\0\u007f", "\\x07\\x00\\x7f"],
    ["8-bit control characters", "\u0085\u009d0;title\u009c", "\\x85\\x9d0;title\\x9c"],
    ["a line whose direction is reversed", "a\u202eb\u2066c\u2069", "a\\u202eb\\u2066c\\u2069"],
  ])("with %s does not control the terminal", (_what, text, expected) => {
    expect(toTerminal(text)).toBe(expected);
  });

  it("loses the colours that it sets itself, and keeps the colours that NOVA adds", () => {
    expect(toTerminal(`${styled("red", "\u001b[32mfailed")}: \u001b[32mcompleted`)).toBe(
      "\u001b[31mfailed\u001b[39m: completed",
    );
  });

  it("is printed without control sequences on stdout and on stderr", () => {
    const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
    const error = vi.spyOn(console, "error").mockImplementation(() => undefined);
    print("a\u001b[2Jb\u0007");
    printError("c\rd");
    expect([log.mock.calls, error.mock.calls]).toEqual([[["ab\\x07"]], [["c\\x0dd"]]]);
  });

  it("is printed without control sequences if a warning of Node contains it", () => {
    const error = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const listeners = process.rawListeners("warning") as NodeJS.WarningListener[];
    onTestFinished(() => {
      process.removeAllListeners("warning");
      for (const listener of listeners) process.on("warning", listener);
    });
    process.on("warning", () => undefined);
    printWarnings();
    process.emit("warning", new Error("not taken: \u001b[2Ja\u0007"));
    expect(error.mock.calls).toEqual([[`(node:${process.pid}) Error: not taken: a\\x07`]]);
  });

  it("stays unchanged in JSON, where its control characters are escaped", () => {
    const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
    const value = { text: "a\u001b[31m\u007f\u009b\u202e\n\tü" };
    print(JSON.stringify(value, null, 2), true);
    const [[printed]] = log.mock.calls as [[string]];
    expect(JSON.parse(printed)).toEqual(value);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of these may be printed
    expect(printed).not.toMatch(/[\0-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
  });
});

it("tableLines counts only the visible characters of a cell, and keeps the cell on one line", () => {
  const lines = tableLines(
    ["id", "text"],
    [
      ["a\u0007", "one\ntwo"],
      ["\u001b[31mlonger", styled("red", "x\ty")],
    ],
  );
  expect(lines.slice(1).map(toTerminal)).toEqual(["a\\x07   one two", "longer  \u001b[31mx y\u001b[39m"]);
});
