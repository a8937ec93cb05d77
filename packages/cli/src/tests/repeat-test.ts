import { everyDifference, type FirstDifference, firstDifference } from "./compare.ts";
import type { Fixture, Test } from "./fixture.ts";
import type { TestFolder } from "./folder.ts";
import { recordedOutcomes } from "./recorded-outcomes.ts";
import { codeOf, liveNodes } from "./steps.ts";
import { TestCloud } from "./test-cloud.ts";

/** A key that gets another value each time its node runs. */
export interface VaryingKey {
  /** Null: the context at the end. */
  place: string | null;
  key: string;
  /** Whether a form can allow any value: not for an error or a decision, and not for a key that only some runs set. */
  canLoosen: boolean;
}

export interface Repetition {
  varying: VaryingKey[];
  /** The test, with any value allowed for the varying keys. */
  loosened: Test;
  /** Differences that no form allows, such as another path; null: there are none. */
  remaining: FirstDifference | null;
}

/** Nodes whose code in the folder is not the recorded one: their differences say nothing of chance. */
export function changedNodes({ code }: Fixture, { workflow }: TestFolder): string[] {
  const now = codeOf(workflow).code;
  return Object.keys(code).filter((node) => code[node] !== now[node]);
}

/**
 * Runs a new test twice, and finds the values that differ from the record although the code is the same: times, random
 * ids, files with a time inside. Twice, since two runs within one second may agree.
 */
export async function repeatTest(folder: TestFolder, test: Test): Promise<Repetition> {
  const cloud = await TestCloud.open();
  try {
    const version = await cloud.publish(folder);
    const live = liveNodes(version.workflow);
    const run = async () => {
      const outcomes = recordedOutcomes(test, live);
      return { live, ...(await cloud.run({ version, input: test.fixture.input, outcomes, files: test.files })) };
    };
    const runs = [await run(), await run()];
    const found = (await Promise.all(runs.map((one) => everyDifference(test.fixture, one)))).flat();
    const differing = Array.from(new Map(found.map((one) => [JSON.stringify(one), one])).values());
    const allLoose = loosen(test.fixture, differing);
    const still = (await Promise.all(runs.map((one) => everyDifference(allLoose, one)))).flat();
    const stuck = new Set(still.map((one) => JSON.stringify(one)));
    const varying = differing.map((one) => ({ ...one, canLoosen: !stuck.has(JSON.stringify(one)) }));
    const loose = varying.filter(({ canLoosen }) => canLoosen);
    const loosened = { ...test, fixture: loosen(test.fixture, loose) };
    const rest = runs.map((one) => firstDifference(loosened.fixture, one, async (all) => all.map(() => null)));
    const [remaining = null] = (await Promise.all(rest)).filter((one) => one !== null);
    return { varying, loosened, remaining };
  } finally {
    await cloud.close();
  }
}

/** Only values that a node set can be loosened: a decision or an error is part of the way that a run takes. */
function loosen(fixture: Fixture, varying: readonly Pick<VaryingKey, "place" | "key">[]): Fixture {
  const loose = copyOf(fixture);
  for (const { place, key } of varying) {
    const values = place === null ? loose.expect.context : loose.outcomes[place]?.set;
    if (values && Object.hasOwn(values, key)) values[key] = { $any: true };
  }
  return loose;
}

/** Two levels of objects are new: their values are replaced and never changed. */
function copyOf({ outcomes, expect, ...same }: Fixture): Fixture {
  const copied = Object.entries(outcomes).map(([place, outcome]) => [place, { ...outcome, set: { ...outcome.set } }]);
  const context = expect.context && { ...expect.context };
  return { ...same, outcomes: Object.fromEntries(copied), expect: { ...expect, ...(context && { context }) } };
}
