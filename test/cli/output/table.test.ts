import { stripVTControlCharacters } from "node:util";
import { expect, it } from "vitest";
import { figureTable } from "../../../packages/cli/src/output/text.ts";

const figures = {
  workflow: "report",
  runs: 1200,
  success_rate: 0.9975,
  mean_ms: 1234.4,
  p95_ms: null,
  cost_usd: 0.0042,
};

it("figureTable has a column for each figure, in readable units", () => {
  const lines = figureTable([figures, { ...figures, success_rate: 1, mean_ms: 9, p95_ms: 61_000, cost_usd: 12 }]);
  expect(lines.map(stripVTControlCharacters)).toEqual([
    "workflow  runs  success rate  mean    p95        cost",
    "report    1200  99.7 %        1.23 s             $0.0042",
    "report    1200  100 %         9 ms    1 min 1 s  $12.00",
  ]);
});

it.each([
  [0, "$0.00"],
  [0.5, "$0.5000"],
  [1, "$1.00"],
])("figureTable shows %d dollars as %s", (cost_usd, text) => {
  expect(figureTable([{ cost_usd }])[1]).toBe(text);
});
