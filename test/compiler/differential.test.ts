import { toStateMachine } from "@nova/compiler";
import fc from "fast-check";
import { expect, it } from "vitest";
import { aslErrors } from "./support/asl-validator.ts";
import { execute } from "./support/executed.ts";
import { graphs } from "./support/graphs.ts";
import { type Fate, walk } from "./support/walk.ts";

const fate: fc.Arbitrary<Fate> = fc.record({
  kind: fc.oneof(
    { weight: 5, arbitrary: fc.constant("succeeds" as const) },
    { weight: 4, arbitrary: fc.constantFrom("fails" as const, "unseen" as const, "flaky" as const) },
    { weight: 1, arbitrary: fc.constant("closed" as const) },
  ),
  pick: fc.nat({ max: 5 }),
});

it("a compiled workflow visits the same nodes as a walk along its edges, whatever fails on the way", async () => {
  const ends = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(graphs, fc.array(fate, { maxLength: 12 }), async (workflow, fates) => {
      const walked = walk(workflow, fates);
      expect(await execute(workflow, fates)).toEqual(walked);
      ends.set(walked.end, (ends.get(walked.end) ?? 0) + 1);
    }),
    { numRuns: 400 },
  );
  // A generator that stopped making one kind of run would make this test blind to it.
  expect([...ends.keys()].sort()).toEqual(["ExecutionClosed", "Lambda.Unknown", "NodeFailed", "succeeded"]);
});

it("every compiled workflow is accepted by asl-validator", async () => {
  await fc.assert(
    fc.asyncProperty(graphs, async (workflow) => {
      expect(await aslErrors(toStateMachine(workflow))).toBe("");
    }),
    { numRuns: 20 },
  );
});
