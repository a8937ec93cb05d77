import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { commands } from "../../packages/cli/src/commands/table.ts";

const page = readFileSync(new URL("../../docs/cli.md", import.meta.url), "utf8");
const listed = /# The command line\n\n```\n(.*?)\n```/s.exec(page)?.[1] ?? "";

describe("docs/cli.md", () => {
  it.each(Object.keys(commands))("lists the command nova %s", (name) => {
    expect(listed).toMatch(new RegExp(`^nova ([a-z]+ \\| )?${name}\\b`, "m"));
  });

  it("lists only commands that exist", () => {
    const lines = listed.matchAll(/^nova ([a-z]+)(?: \| ([a-z]+)(?= +<))?/gm);
    const names = Array.from(lines, ([, one, other]) => [one, other]).flat();
    expect(names.filter((name) => name !== undefined && !(name in commands))).toEqual([]);
  });
});
