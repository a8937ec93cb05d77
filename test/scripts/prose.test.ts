import { describe, expect, it } from "vitest";
import { checkSentence, exceptions, findSpreads, readSentences, rules } from "../../scripts/prose.ts";

/** The start and end of a block comment, in pieces, so that this file has no such comment itself. */
const open = ["/", "*"].join("");
const close = ["*", "/"].join("");

function rulesBrokenIn(path: string, text: string): string[] {
  return readSentences(path, text)
    .flatMap(checkSentence)
    .map(({ line, rule }) => `${line} ${rule}`);
}

describe("the script that checks sentences", () => {
  it.each([
    ["no subject", "Where the run waits."],
    ["unnamed actor", "The turn that Nobody holds."],
    ["behind", "The entry behind the fork."],
    ["archaic word", "Starts the pass anew."],
    ["come to", "The map came to 10 results."],
    ["go on", "The run goes on."],
    ["be told", "The caller is told the reason."],
    ["release", "Written by an earlier release."],
  ])("finds a sentence in a comment that breaks the rule: %s", (rule, text) => {
    expect(rulesBrokenIn("a.ts", `${open}* ${text} ${close}`)).toEqual([`1 ${rule}`]);
    expect(rulesBrokenIn("a.ts", `// ${text}`)).toEqual([`1 ${rule}`]);
    expect(rulesBrokenIn("a.py", `"""${text}"""`)).toEqual([`1 ${rule}`]);
    expect(rulesBrokenIn("a.py", `    # ${text}`)).toEqual([`1 ${rule}`]);
  });

  it.each([
    "Continues after the fork.",
    "The server behind a proxy.",
    "The caller comes to a halt.",
    "Ends the run, whose entry is last.",
  ])("accepts %s", (text) => {
    expect(rulesBrokenIn("a.ts", `${open}* ${text} ${close}`)).toEqual([]);
  });

  it("has an example in these tests for each of its rules", () => {
    expect(rules).toHaveLength(8);
  });

  it("reads a comment over several lines as one sentence", () => {
    const text = ["const a = 1;", `${open}*`, " * The run", " * goes", " * on.", ` ${close}`].join("\n");
    expect(rulesBrokenIn("a.ts", text)).toEqual(["2 go on"]);
  });

  it.each([
    `it${'("keeps what nobody holds", () => {});'}`,
    `describe${'.each([1])("a turn that nobody holds", () => {});'}`,
    `it${".skipIf(true)"}${"(\n  `keeps what nobody holds`, () => {});"}`,
  ])("reads the title of %s", (text) => {
    expect(rulesBrokenIn("a.test.ts", text)).toEqual(["1 unnamed actor"]);
  });

  it.each([`{ description: ${'"Whoever starts the run."'} }`, `command.help${'("The run goes on after it.")'}`])(
    "reads the text of %s",
    (text) => {
      expect(rulesBrokenIn("a.ts", text)).not.toEqual([]);
    },
  );

  it("reads documents without the code in them", () => {
    const lines = ["# Runs", "", "A run goes on.", "```", "A run goes on.", "```", "- The option `nobody` stays."];
    expect(rulesBrokenIn("a.md", lines.join("\n"))).toEqual(["3 go on"]);
  });

  it("ignores URLs and directives of tools", () => {
    const lines = ['const a = "https://nobody.example";', "// biome-ignore lint/a: somebody needs it"];
    expect(rulesBrokenIn("a.ts", lines.join("\n"))).toEqual([]);
  });

  it("finds a spread that only saves lines, and accepts a spread that depends on a condition", () => {
    const text = ["const a = {", "  ...{ b, c },", "  ...(d ? { d } : {}),", "  ...e,", "};"].join("\n");
    expect(findSpreads("a.ts", text).map(({ line }) => line)).toEqual([2]);
  });

  it("has at most 20 exceptions, each with a reason", () => {
    expect(exceptions.length).toBeLessThanOrEqual(20);
    expect(exceptions.filter(({ reason }) => reason.length < 20)).toEqual([]);
  });
});
