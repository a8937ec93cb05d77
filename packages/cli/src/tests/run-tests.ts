import { atOnce, type WorkflowVersion } from "@nova/engine";
import { type FirstDifference, findFirstDifference } from "./compare.ts";
import type { Test } from "./fixture.ts";
import type { TestFolder } from "./folder.ts";
import { recordedOutcomes } from "./recorded-outcomes.ts";
import { findStaleNodes } from "./stale.ts";
import { listLiveNodes } from "./steps.ts";
import type { TestCloud } from "./test-cloud.ts";
import { updateTest } from "./update.ts";

export interface TestItem {
  name: string;
  /** `stale`: the recorded nodes have changed since; `updated`: the test has the new outcome now. */
  status: "passed" | "failed" | "stale" | "updated";
  first_difference: FirstDifference | null;
  ms: number;
}

/** Concurrent runs: a run mostly waits for its sandbox. */
const maxAtOnce = 4;

/** Runs all tests of a folder, in the order of their names. */
export async function runTests(
  cloud: TestCloud,
  folder: TestFolder,
  { update }: { update: boolean },
): Promise<TestItem[]> {
  const version = await cloud.publish(folder);
  const run = async (test: Test): Promise<TestItem> => {
    const began = performance.now();
    const { status, first_difference } = await runOne(cloud, { folder, version, update }, test);
    return { name: test.name, status, first_difference, ms: Math.round(performance.now() - began) };
  };
  return atOnce(folder.tests, run, maxAtOnce);
}

interface Running {
  folder: TestFolder;
  version: WorkflowVersion;
  update: boolean;
}

async function runOne(cloud: TestCloud, running: Running, test: Test): Promise<Omit<TestItem, "name" | "ms">> {
  const { folder, version, update } = running;
  const [stale] = findStaleNodes(test.fixture, folder.workflow);
  const first_difference = stale
    ? { place: stale.node, message: `${stale.message} - --update writes the current outcome`, keys: [] }
    : await differenceOf(cloud, version, test);
  if (!first_difference) return { status: "passed", first_difference };
  const status = stale ? "stale" : "failed";
  if (!update) return { status, first_difference };
  const problem = await updateTest(cloud, folder, test);
  return problem ? { status, first_difference: problem } : { status: "updated", first_difference: null };
}

async function differenceOf(cloud: TestCloud, version: WorkflowVersion, test: Test): Promise<FirstDifference | null> {
  const { fixture, files } = test;
  const live = listLiveNodes(version.workflow);
  try {
    const outcomes = recordedOutcomes(test, live);
    const run = await cloud.run({ version, input: fixture.input, outcomes, files });
    return await findFirstDifference(fixture, { ...run, live }, (expressions) => cloud.evaluate(expressions));
  } catch (error) {
    if (!(error instanceof Error && refusals.has(error.name))) throw error;
    return { place: null, message: error.message, keys: [] };
  }
}

/** These errors fail one test, and the others continue. */
const refusals = new Set(["InputsRefused", "OutcomesRefused", "InvalidInput"]);
