import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { verifyProof } from "../../packages/verify/src/index.ts";
import { root } from "../support/imports.ts";
import { addRoot } from "./support/add-root.ts";
import { keySet, makeProof } from "./support/make-proof.ts";
import { Choices } from "./support/random.ts";

describe("the verifier", () => {
  it("has at most 600 lines, so that a stranger can read it, and imports no other package of NOVA", () => {
    const texts = globSync("packages/verify/src/**/*.ts", { cwd: root }).map((file) =>
      readFileSync(join(root, file), "utf8"),
    );
    expect(texts.length).toBeGreaterThan(3);
    expect(texts.reduce((sum, text) => sum + text.split("\n").length - 1, 0)).toBeLessThanOrEqual(600);
    expect(texts.filter((text) => /from "(?:@nova\/|\.\.\/)/.test(text))).toEqual([]);
  });
});

describe("a proof", () => {
  it("is valid in the form in which NOVA writes it, with every kind of node, content, key and root", async () => {
    for (let seed = 1; seed <= 200; seed++) {
      const choices = new Choices(seed);
      const proof = makeProof(choices);
      if (choices.chance(0.7)) addRoot(proof, choices);
      const keys = choices.chance(0.5) ? JSON.stringify(keySet) : undefined;
      const verdict = await verifyProof(JSON.stringify(proof), { keys });
      expect({ seed, problem: verdict.problem }).toEqual({ seed, problem: undefined });
    }
  });

  it("is refused at the first of many wrong items in a list, so that a forged file cannot fill the memory", {
    timeout: 120_000,
  }, async () => {
    const runs = `[${"{},".repeat(200_000)}{}]`;
    const { problem } = await verifyProof(`{"kind":"nova-proof","runs":${runs}}`);
    expect(problem?.message).toMatch(/^The file is not a proof: its field "[\w.]+" is missing or has another form\.$/);
  });
});
