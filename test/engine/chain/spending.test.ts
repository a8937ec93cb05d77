import { expect, it } from "vitest";
import {
  addSpendings,
  spentSince,
  sumOfSpendings,
  unlessNothing,
} from "../../../packages/engine/src/chain/spending.ts";

const spending = (cost_usd: number, tokens = 0) => ({
  cost_usd,
  tokens_input: tokens,
  tokens_cached: tokens,
  tokens_output: tokens,
});

it("a sum of costs in dollars is rounded, so that 0.1 + 0.2 is exactly 0.3", () => {
  expect(sumOfSpendings([spending(0.1, 1), spending(0.2, 2)])).toEqual(spending(0.3, 3));
});

it("the sum of costs is undefined if nothing was spent", () => {
  expect(addSpendings(undefined, undefined)).toBeUndefined();
  expect(addSpendings(spending(0.1), undefined)).toEqual(spending(0.1));
  expect(unlessNothing(sumOfSpendings([]))).toBeUndefined();
  expect(unlessNothing(spending(0, 1))).toEqual(spending(0, 1));
});

it("spentSince returns the costs of a branch without the costs before its fork", () => {
  expect(spentSince(spending(0.1, 1), spending(0.4, 5))).toEqual(spending(0.3, 4));
  expect(spentSince(undefined, undefined)).toEqual(spending(0));
});
