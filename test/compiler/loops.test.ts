import { toStateMachine } from "@nova/compiler";
import { conditionLabel, parseWorkflow } from "@nova/workflow";
import fc from "fast-check";
import { expect, it } from "vitest";
import { allStates } from "./support/states.ts";

const size = 8;
/** For a fan-out: the last node of its first branch, and the first of its second one. */
const [fork, last, second] = [1, 3, 4];
const name = (index: number) => (index === size ? "end" : `n${index}`);

/** n0, n1 with the branches n2 > n3 and n4 > n5, n6, n7; a few shortcuts, and edges with a `max` between any nodes. */
const shapes = fc
  .record({
    chooses: fc.array(fc.boolean(), { minLength: size, maxLength: size }),
    past: fc.array(fc.tuple(fc.nat(size - 1), fc.nat(size)), { maxLength: 2 }),
    loops: fc.array(fc.tuple(fc.nat(size - 1), fc.nat(size)), { minLength: 1, maxLength: 2 }),
  })
  .map(({ chooses, past, loops }) => {
    const row = Array.from({ length: size }, (_, index) => [index, index === last ? 6 : index + 1] as const);
    const pairs = [...row, [fork, second] as const, ...past.filter(([from, to]) => to > from + 1)];
    const ways = [...new Set(pairs.map(([from, to]) => `${name(from)} ${name(to)}`))].map((way) => way.split(" "));
    const isChoice = (id: string | undefined) => id !== name(fork) && chooses[Number(id?.slice(1))] === true;
    const code = (id: string) => (isChoice(id) ? 'context["branch_decision"] = 1' : "a = 1");
    const ids = Array.from({ length: size }, (_, index) => name(index));
    return {
      id: "random",
      nodes: [
        { id: "start", type: "start" },
        ...ids.map((id) => ({ id, type: isChoice(id) ? "decision" : "action", code: code(id) })),
        { id: "end", type: "end" },
      ],
      edges: [
        { from: "start", to: "n0" },
        ...ways.map(([from, to]) => ({ from, to, ...(isChoice(from) && { condition: to }) })),
        ...loops.map(([from, to], nth) => ({ from: name(from), to: name(to), condition: `again${nth}`, max: 2 })),
      ],
    };
  });

it("every shape with loops and without findings compiles, and its loops lead back to states of the same frame", () => {
  const verdicts = { sound: 0, refused: 0 };
  fc.assert(
    fc.property(shapes, (definition) => {
      const { workflow, findings } = parseWorkflow({ text: JSON.stringify(definition), fileName: "w.json", files: {} });
      verdicts[workflow ? "sound" : "refused"]++;
      if (!workflow) {
        expect(findings.some(({ severity }) => severity === "error")).toBe(true);
        return;
      }
      const states = allStates(toStateMachine(workflow));
      for (const { from, to, condition, max } of workflow.edges) {
        if (max === undefined) continue;
        const branch = states[`${from}.branch`];
        const rules = branch?.Type === "Choice" ? branch.Choices : [];
        expect(rules).toContainEqual({ Variable: "$.decision", StringEquals: conditionLabel(condition), Next: to });
      }
    }),
    { numRuns: 2000 },
  );
  expect(Math.min(verdicts.sound, verdicts.refused)).toBeGreaterThan(30);
});
