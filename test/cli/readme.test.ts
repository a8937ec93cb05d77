import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { commands } from "../../packages/cli/src/commands/table.ts";

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
const listed = /## The command line\n\n```\n(.*?)\n```/s.exec(readme)?.[1] ?? "";

it.each(Object.keys(commands))("the README's list of commands has nova %s", (name) => {
  expect(listed).toMatch(new RegExp(`^nova ([a-z]+ \\| )?${name}\\b`, "m"));
});

it("the README lists no command that is not there", () => {
  const named = Array.from(listed.matchAll(/^nova ([a-z]+)(?: \| ([a-z]+)(?= +<))?/gm), ([, one, other]) => [
    one,
    other,
  ]);
  expect(named.flat().filter((name) => name !== undefined && !(name in commands))).toEqual([]);
});
