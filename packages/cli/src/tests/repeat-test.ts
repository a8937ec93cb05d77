import { type FirstDifference, findEveryDifference, findFirstDifference } from "./compare.ts";
import type { Fixture, Test } from "./fixture.ts";
import type { TestFolder } from "./folder.ts";
import { recordedOutcomes } from "./recorded-outcomes.ts";
import { hashCode, listLiveNodes } from "./steps.ts";
import { TestCloud } from "./test-cloud.ts";

/** A key that gets another value in every run of its node. */
export interface VaryingKey {
  /** Null: the final context. */
  place: string | null;
  key: string;
  /** Whether a form can allow any value. It cannot for an error, a decision, or a key that only some runs set. */
  canLoosen: boolean;
}

export interface Repetition {
  varying: VaryingKey[];
  /** The test with any value allowed for the varying keys. */
  loosened: Test;
  /** A difference that no form allows, such as another path; null if there is none. */
  remaining: FirstDifference | null;
}

/** Nodes whose code in the folder differs from the recorded code: their differences are not random. */
export function findChangedNodes({ code }: Fixture, { workflow }: TestFolder): string[] {
  const now = hashCode(workflow).code;
  return Object.keys(code).filter((node) => code[node] !== now[node]);
}

/**
 * Runs a new test twice and finds values that differ although the code is the same: times, random ids, files with a
 * time. Two runs are needed, because a run within the same second may have the same time.
 */
export async function repeatTest(folder: TestFolder, test: Test): Promise<Repetition> {
  const cloud = await TestCloud.open();
  try {
    const version = await cloud.publish(folder);
    const live = listLiveNodes(version.workflow);
    const run = async () => {
      const outcomes = recordedOutcomes(test, live);
      return { live, ...(await cloud.run({ version, input: test.fixture.input, outcomes, files: test.files })) };
    };
    const runs = [await run(), await run()];
    const found = (await Promise.all(runs.map((one) => findEveryDifference(test.fixture, one)))).flat();
    const differing = Array.from(new Map(found.map((one) => [JSON.stringify(one), one])).values());
    const allLoose = loosen(test.fixture, differing);
    const still = (await Promise.all(runs.map((one) => findEveryDifference(allLoose, one)))).flat();
    const stuck = new Set(still.map((one) => JSON.stringify(one)));
    const varying = differing.map((one) => ({ ...one, canLoosen: !stuck.has(JSON.stringify(one)) }));
    const loose = varying.filter(({ canLoosen }) => canLoosen);
    const loosened = { ...test, fixture: loosen(test.fixture, loose) };
    const rest = runs.map((one) => findFirstDifference(loosened.fixture, one, async (all) => all.map(() => null)));
    const [remaining = null] = (await Promise.all(rest)).filter((one) => one !== null);
    return { varying, loosened, remaining };
  } finally {
    await cloud.close();
  }
}

/** Allows any value for keys that a node sets. Decisions and errors determine the path, so they stay. */
function loosen(fixture: Fixture, varying: readonly Pick<VaryingKey, "place" | "key">[]): Fixture {
  const loose = copyOf(fixture);
  for (const { place, key } of varying) {
    const values = place === null ? loose.expect.context : loose.outcomes[place]?.set;
    if (values && Object.hasOwn(values, key)) values[key] = { $any: true };
  }
  return loose;
}

/** Copies two levels of objects, because only their values are replaced. */
function copyOf({ outcomes, expect, ...same }: Fixture): Fixture {
  const copied = Object.entries(outcomes).map(([place, outcome]) => [place, { ...outcome, set: { ...outcome.set } }]);
  const context = expect.context && { ...expect.context };
  return { ...same, outcomes: Object.fromEntries(copied), expect: { ...expect, ...(context && { context }) } };
}
