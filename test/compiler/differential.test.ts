import { toStateMachine } from "@nova/compiler";
import { forksOf } from "@nova/workflow";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { aslErrors } from "./support/asl-validator.ts";
import { type Executed, execute } from "./support/executed.ts";
import { fates } from "./support/fates.ts";
import { graphs } from "./support/graphs.ts";
import { type Walk, walk, walkEvents } from "./support/walk.ts";

/** With one or two more items, a map runs each in its own execution; loops continue in further ones. */
const itemsInline = fc.constantFrom({}, { inlineItems: 0 }, { inlineItems: 1 });
const history = fc.constantFrom({}, ...Array.from({ length: 3 }, () => ({ historyEvents: 0 })));
const options = fc.tuple(itemsInline, history).map(([items, events]) => ({ ...items, ...events }));

/** Compiles and executes random workflows, and compares each with a walk along its edges. */
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

describe("a compiled workflow", () => {
  it("visits the same nodes as a walk along its edges, also after failures", async () => {
    await compareWithWalks(60);
  });

  it("visits the same nodes in hundreds of workflows, some with maps and further executions", {
    tags: ["deep"],
  }, async () => {
    const { mapRuns, further } = await compareWithWalks(400);
    expect(mapRuns).toBeGreaterThan(10);
    expect(further).toBeGreaterThan(0);
  });
});

it("has tests whose random runs end in every way and meet every event", () => {
  const walks = fc.sample(fc.tuple(graphs, fates), 3_000).map(([{ workflow }, chosen]) => walk(workflow, chosen));
  const ends = new Set(walks.map(({ end }) => end));
  const all = ["ExecutionClosed", "Lambda.Unknown", "NodeFailed", "NodeTimeout", "succeeded"];
  expect(all.filter((end) => !ends.has(end))).toEqual([]);
  const events = new Set(walks.flatMap((walked) => [...walked.events]));
  expect(walkEvents.filter((event) => !events.has(event))).toEqual([]);
});

it("has its joins at the nodes where the original program joins", () => {
  fc.assert(
    fc.property(graphs, ({ workflow, joins }) => {
      const found = [...forksOf(workflow).values()].filter(({ kind }) => kind === "parallel");
      expect(Object.fromEntries(found.map(({ node, next }) => [node, next]))).toEqual(joins);
    }),
  );
});

it("is accepted by asl-validator", async () => {
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

/** If another branch failed, a branch may have been stopped: then the walk stands for its visits. */
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
