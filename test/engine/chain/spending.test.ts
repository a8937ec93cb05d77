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

it("a sum of dollars is rounded, so that it has no meaningless digits", () => {
  expect(sumOfSpendings([spending(0.1, 1), spending(0.2, 2)])).toEqual(spending(0.3, 3));
});

it("a sum without spending is undefined", () => {
  expect(addSpendings(undefined, undefined)).toBeUndefined();
  expect(addSpendings(spending(0.1), undefined)).toEqual(spending(0.1));
  expect(unlessNothing(sumOfSpendings([]))).toBeUndefined();
  expect(unlessNothing(spending(0, 1))).toEqual(spending(0, 1));
});

it("spentSince subtracts the fork's spending from that of a branch", () => {
  expect(spentSince(spending(0.1, 1), spending(0.4, 5))).toEqual(spending(0.3, 4));
  expect(spentSince(undefined, undefined)).toEqual(spending(0));
});
