import { execFileSync } from "node:child_process";
import { shellWord } from "@nova/workflow/shell-word";
import { expect, it } from "vitest";

it.each(["exec_01M8", "greeting-a1b2c3", "./flows/a.json", "n=1"])("the word %s needs no quotes", (text) => {
  expect(shellWord(text)).toBe(text);
});

it("a quoted word keeps its meaning in a shell", () => {
  const texts = ["a b", "it's", "$HOME", "`id`", "a;b", '"', "", "~x", "*", "!1", "#", "a\nb", "größe"];
  const printed = execFileSync("sh", ["-c", `printf '%s\\0' ${texts.map(shellWord).join(" ")}`], { encoding: "utf8" });
  expect(printed.split("\0").slice(0, -1)).toEqual(texts);
});
