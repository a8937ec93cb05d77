import { expect, it } from "vitest";
import { sumByKind } from "../../../../packages/console/src/pages/health/by-kind.ts";

it("adds up the counts of several pages by kind and format", () => {
  const state = "current" as const;
  const parts = [
    { entity: "step", format: 1, items: 2, state },
    { entity: "link", format: 2, items: 1, state },
    { entity: "link", format: 1, items: 4, state: "older" as const },
    { entity: "step", format: 1, items: 3, state },
  ];
  expect(sumByKind(parts)).toEqual([
    { entity: "link", format: 1, items: 4, state: "older" },
    { entity: "link", format: 2, items: 1, state },
    { entity: "step", format: 1, items: 5, state },
  ]);
});
