import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { sandboxLife } from "../../../packages/engine/src/sandboxes/life.ts";
import { root, sourceFiles } from "../../support/imports.ts";

const states = Object.entries(sandboxLife) as [string, Readonly<Record<string, string>>][];

function reachableFrom(state: string): Set<string> {
  const found = new Set([state]);
  for (const one of found) for (const next of Object.values(Object.fromEntries(states)[one] ?? {})) found.add(next);
  return found;
}

describe("the life of a sandbox", () => {
  it.each(states.map(([state]) => state))("can end from the state %j", (state) => {
    expect(reachableFrom(state)).toContain("released");
  });

  it("leads from a new sandbox to every state", () => {
    expect(reachableFrom("created").size).toBe(states.length);
  });

  it("ends in one file: no other one of the engine kills a sandbox", () => {
    const killing = sourceFiles("packages/engine/src").filter(({ path }) =>
      /sandboxes\.(kill|killAll|rest)\(/.test(readFileSync(`${root}/${path}`, "utf8")),
    );
    expect(killing.map(({ path }) => path)).toEqual(["packages/engine/src/sandboxes/life.ts"]);
  });
});
