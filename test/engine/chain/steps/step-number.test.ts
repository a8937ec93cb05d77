import type { StoredStep } from "@nova/engine";
import { expect, it } from "vitest";
import { journalOf, noteNumber, stepNumber } from "../../../../packages/engine/src/chain/step-record.ts";

const stored = (...numbers: number[]): StoredStep[] => numbers.map((step) => ({ step, text: "{}", hash: `h${step}` }));

it.each([
  ["a turn that has not moved", {}, [1, 2, 3, 4]],
  ["a turn that moved after two steps", { kept: [2] }, [1, 2, 1003, 1004]],
  ["a turn that moved before any step", { kept: [0] }, [1001, 1002, 1003, 1004]],
  ["a turn that moved twice", { kept: [1, 3] }, [1, 1002, 1003, 2004]],
  ["a turn that moved twice at the same place", { kept: [2, 2] }, [1, 2, 2003, 2004]],
])("the journal numbers the steps of each attempt separately for %s", (_turn, turn, numbers) => {
  expect([1, 2, 3, 4].map((place) => stepNumber(turn, place))).toEqual(numbers);
  expect(journalOf(turn, stored(...numbers)).map(({ step }) => step)).toEqual(numbers);
});

it("the journal ignores records of a turn that has moved", () => {
  expect(journalOf({ kept: [1] }, stored(1, 2, 3, 1002)).map(({ step }) => step)).toEqual([1, 1002]);
});

it("the journal stops at a missing step, and before the record of a pipeline's failure", () => {
  expect(journalOf({}, stored(1, 3))).toHaveLength(1);
  const ending = { step: 2, text: '{"format":1,"ends":true,"digests":{}}', hash: "h" };
  expect(journalOf({}, [...stored(1), ending])).toHaveLength(1);
});

it("the journal gives notes numbers that no step has", () => {
  expect([noteNumber({}, 2), noteNumber({ kept: [1, 1] }, 2)]).toEqual([5002, 7002]);
});
