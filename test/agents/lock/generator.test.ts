import { hash } from "node:crypto";
import { currentGenerator } from "@nova/agents";
import { expect, it } from "vitest";
import { readGuide } from "../../../packages/agents/src/knowledge/guides/choose-guides.ts";
import { topics } from "../../../packages/agents/src/knowledge/guides/topics.ts";
import { guideHashes } from "../../../packages/agents/src/lock/generator.ts";

it("the generator has the hash of every guide, so that a changed guide makes its code stale", () => {
  const onTheShelf = topics.map(({ guide }) => [guide, hash("sha256", readGuide(guide).text)] as const);
  expect(guideHashes).toEqual(Object.fromEntries(onTheShelf));
});

it("the generator has no hash of an unknown guide", () => {
  expect(currentGenerator.guideHash("money")).toMatch(/^[0-9a-f]{64}$/);
  expect(["gone", "constructor"].map((name) => currentGenerator.guideHash(name))).toEqual([undefined, undefined]);
});
