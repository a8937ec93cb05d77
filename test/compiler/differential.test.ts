import { toStateMachine } from "@nova/compiler";
import { conditionLabel, forksOf, parseWorkflow } from "@nova/workflow";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Executed, execute } from "./support/executed.ts";
import { fates } from "./support/fates.ts";
import { graphs } from "./support/graphs.ts";
import { allStates, aslErrors } from "./support/states.ts";
import { type Walk, walk, walkEvents } from "./support/walk.ts";

/**
 * Compiler options. In some cases they have limits that random maps and loops exceed, so that items and rounds run in
 * separate executions.
 */
const itemsInline = fc.constantFrom({}, { inlineItems: 0 }, { inlineItems: 1 });
const history = fc.constantFrom({}, ...Array.from({ length: 3 }, () => ({ historyEvents: 0 })));
const options = fc.tuple(itemsInline, history).map(([items, events]) => ({ ...items, ...events }));

/**
 * Compiles and executes random workflows, and compares each execution with a walk along the edges of the workflow.
 * Returns the number of maps whose items ran in separate executions, and the number of further executions in which a
 * loop continued.
 */
async function compareWithWalks(numRuns: number): Promise<{ mapRuns: number; further: number }> {
  const seen = { mapRuns: 0, further: 0 };
  await fc.assert(
    fc.asyncProperty(graphs, fates, options, async ({ workflow }, chosen, how) => {
      const walked = walk(workflow, chosen);
      const executed = await execute(workflow, chosen, how);
      seen.mapRuns += executed.mapRuns;
      seen.further += executed.executions - 1;
      if (walked.end === null) return;
      expect(shown(executed, walked)).toEqual(shownOf(walked));
    }),
    { numRuns },
  );
  return seen;
}

describe("a compiled workflow, run by a local Step Functions,", () => {
  it("visits the same nodes as a walk along the edges of its definition, even after failures", async () => {
    await compareWithWalks(60);
  });

  it("visits the same nodes as a walk along the edges in hundreds of random cases, some with maps and further executions", {
    tags: ["deep"],
  }, async () => {
    const { mapRuns, further } = await compareWithWalks(400);
    expect(mapRuns).toBeGreaterThan(10);
    expect(further).toBeGreaterThan(0);
  });
});

it("the random workflows in the compiler's tests reach every possible end and every possible kind of event", {
  tags: ["deep"],
}, () => {
  const walks = fc.sample(fc.tuple(graphs, fates), 3_000).map(([{ workflow }, chosen]) => walk(workflow, chosen));
  const ends = new Set(walks.map(({ end }) => end));
  const all = ["ExecutionClosed", "Lambda.Unknown", "NodeFailed", "NodeTimeout", "succeeded"];
  expect(all.filter((end) => !ends.has(end))).toEqual([]);
  const events = new Set(walks.flatMap((walked) => [...walked.events]));
  expect(walkEvents.filter((event) => !events.has(event))).toEqual([]);
});

it("a random workflow has the joins of the random program from which it was generated", () => {
  fc.assert(
    fc.property(graphs, ({ workflow, joins }) => {
      const found = [...forksOf(workflow).values()].filter(({ kind }) => kind === "parallel");
      expect(Object.fromEntries(found.map(({ node, next }) => [node, next]))).toEqual(joins);
    }),
  );
});

it("the state machine of a random workflow is accepted by asl-validator", { tags: ["deep"] }, async () => {
  await fc.assert(
    fc.asyncProperty(graphs, options, async ({ workflow }, how) => {
      expect(await aslErrors(toStateMachine(workflow, how))).toBe("");
    }),
    { numRuns: 10 },
  );
});

interface Shown {
  end: string | null;
  scopes: Record<string, string[]>;
}

const shownOf = ({ end, scopes }: Walk): Shown => ({
  end,
  scopes: Object.fromEntries([...scopes].map(([scope, { visited }]) => [scope, visited])),
});

/**
 * Returns the end of an execution and its visited nodes by scope. A failure of one branch may stop other branches
 * early. The result then contains, for each such branch, the visits of the walk, if they begin with the visits of the
 * execution.
 */
function shown({ end, scopes }: Executed, walked: Walk): Shown {
  const cut = [...walked.scopes].filter(([, { mayBeCut }]) => mayBeCut);
  const whole = cut.filter(([scope, { visited }]) => isBeginning(scopes.get(scope) ?? [], visited));
  const completed = whole.map(([scope, { visited }]): [string, string[]] => [scope, visited]);
  const empty = [...walked.scopes].filter(([scope, { visited }]) => visited.length === 0 && !scopes.has(scope));
  const nothing = empty.map(([scope]): [string, string[]] => [scope, []]);
  return { end, scopes: Object.fromEntries([...scopes, ...completed, ...nothing]) };
}

function isBeginning(list: string[], whole: string[]): boolean {
  return list.every((one, index) => one === whole[index]);
}

const size = 8;
/** Numbers of three nodes: the fork, the last node of its first branch, and the first node of its second branch. */
const [fork, last, second] = [1, 3, 4];
const name = (index: number) => (index === size ? "end" : `n${index}`);

/**
 * Random graphs. Node n0 leads to the fork n1 with the branches n2 > n3 and n4 > n5. They join at n6, and n7 follows.
 * Up to two random edges lead forward, and one or two edges with a `max` connect any nodes.
 */
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

it("a random graph with loops compiles if the parser accepts it, and its loops lead back to the right states", () => {
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
