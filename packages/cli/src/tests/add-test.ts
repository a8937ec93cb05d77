import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import type { NovaClient } from "@nova/client";
import { parseExact } from "@nova/engine";
import { nodeIndex } from "@nova/workflow";
import { askApi } from "../api/ask.ts";
import { isOpen, readBlob, readTrace, readWorkflow, type ShownTrace } from "../api/recorded.ts";
import { InvalidInput } from "../errors.ts";
import type { CommandOutput } from "../output/terminal.ts";
import { findEveryDifference, findFirstDifference } from "./compare.ts";
import { type Fixture, findWorkflowFolder, readTestFolder, type Test, type TestFiles, writeTest } from "./fixture.ts";
import { expectationOf, hashCode, listSteps, outcomeOf, shortHash, wholeMembers } from "./steps.ts";
import { withTestCloud } from "./test-cloud.ts";
import type { Blobs } from "./values.ts";

interface Asked {
  execution: string;
  name: string | undefined;
  folder: string | undefined;
  loosen: boolean;
}

/** Records the outcome of an execution as a test of its workflow. Throws `InvalidInput`. */
export function addTest(asked: Asked): Promise<CommandOutput> {
  return askApi((nova) => recordTest(nova, asked, withTestCloud));
}

/**
 * Does the work of `addTest`. Reads the execution with the client `nova`, and repeats the new test in the cloud that
 * `withRunner` opens.
 */
export async function recordTest(
  nova: NovaClient,
  { execution: id, loosen, ...asked }: Asked,
  withRunner: typeof withTestCloud,
): Promise<CommandOutput> {
  const name = asked.name ?? id.slice(-6).toLowerCase();
  demandName(name);
  const trace = await readTrace(nova, id, { full: true });
  demandWhole(trace);
  const folder = await findWorkflowFolder(trace.workflow, asked.folder);
  if (!loosen && existsSync(join(folder, "tests", `${name}.json`)))
    throw new InvalidInput(`the test "${name}" exists already - choose another --name, or remove tests/${name}.json`);
  const test = await testOf(nova, trace, name);
  const path = await writeTest(folder, test, { replaces: loosen });
  const repeated = await repeatTest(folder, test, withRunner);
  if (loosen && repeated.varying.some(({ canLoosen }) => canLoosen))
    await writeTest(folder, repeated.loosened, { replaces: true });
  const file = join(relative(".", folder), path);
  const { workflow, outcomes } = test.fixture;
  const varies = repeated.varying.map(({ place, key, canLoosen }) => ({ node: place, key, can_loosen: canLoosen }));
  const isLoosened = loosen && varies.some((one) => one.can_loosen);
  const { note } = repeated;
  const recorded = { name, file, workflow, execution_id: id, outcomes: Object.keys(outcomes) };
  return {
    json: { ...recorded, varies, loosened: isLoosened, note },
    text: [`${file} is now a test of ${workflow}, from ${id}`, ...notesOf(repeated, { id, name, loosen })],
  };
}

interface Repeated {
  varying: { place: string | null; key: string; canLoosen: boolean }[];
  loosened: Test;
  note: string | null;
}

/**
 * Runs the new test twice, and finds values that differ although the code is the same: times, random ids, files that
 * contain a time. With one run it could miss a time, because this run may happen within the same second as the recorded
 * run. If the workflow in the folder cannot run, the note in the result gives the reason.
 */
async function repeatTest(path: string, test: Test, withRunner: typeof withTestCloud): Promise<Repeated> {
  const untried = (why: string) => ({ varying: [], loosened: test, note: `the test did not run: ${why}` });
  const { fixture } = test;
  try {
    const folder = await readTestFolder(path);
    const now = hashCode(folder.workflow).code;
    const changed = Object.keys(fixture.code).find((node) => fixture.code[node] !== now[node]);
    if (changed !== undefined)
      return untried(`node "${changed}" has different code in the folder and in the execution`);
    return await withRunner(async (runner) => {
      const version = await runner.publish(folder);
      const runs = [await runner.run(version, test), await runner.run(version, test)];
      const differencesFrom = async (expected: Fixture) => {
        const found = (await Promise.all(runs.map((run) => findEveryDifference(expected, run)))).flat();
        return new Map(found.map((one) => [JSON.stringify(one), one]));
      };
      const differing = await differencesFrom(fixture);
      // The differences that remain, which `"$any"` cannot allow: an error, a decision, or a key that only some runs
      // set.
      const stuck = await differencesFrom(loosen(fixture, [...differing.values()]));
      const varying = Array.from(differing, ([name, one]) => ({ ...one, canLoosen: !stuck.has(name) }));
      const loose = varying.filter(({ canLoosen }) => canLoosen);
      const loosened = { ...test, fixture: loosen(fixture, loose) };
      const rest = runs.map((run) => findFirstDifference(loosened.fixture, run, async (all) => all.map(() => null)));
      const remaining = (await Promise.all(rest)).find((one) => one !== null);
      const note = remaining ? `a repetition had another path: ${remaining.message}` : null;
      return { varying, loosened, note };
    });
  } catch (error) {
    return untried(error instanceof Error ? error.message : String(error));
  }
}

function notesOf({ varying, note }: Repeated, { id, name, loosen }: { id: string; name: string; loosen: boolean }) {
  const command = `nova test add ${id} --name ${name} --loosen`;
  const loose = loosen
    ? "the test now allows any value there"
    : `the test will fail - make the code repeatable, or allow any value there: ${command}`;
  const listed = (canLoosen: boolean, advice: string) => {
    const keys = varying.filter((one) => one.canLoosen === canLoosen);
    const lines = keys.map(({ place, key }) => `  ${place ?? "the context at the end"}: ${key}`);
    return keys.length > 0 ? [`these values differ between two runs; ${advice}`, ...lines] : [];
  };
  return [
    ...listed(true, loose),
    ...listed(
      false,
      "the test will fail, because no form allows keys that only some runs set, or other errors - make the code repeatable",
    ),
    ...(note === null ? [] : [note]),
  ];
}

function demandName(name: string): void {
  if (/^[A-Za-z0-9][\w.-]{0,63}$/.test(name)) return;
  throw new InvalidInput(
    `"${name}" is not a valid name for a test - use at most 64 letters, digits, dots, hyphens and underscores`,
  );
}

function demandWhole({ execution_id: id, status, entries }: ShownTrace): void {
  if (isOpen({ status })) throw new InvalidInput(`execution ${id} is open - wait for its end, or cancel it`);
  if (entries.some(({ output_result }) => output_result === null))
    throw new InvalidInput(`the contents of execution ${id} were erased - record another execution`);
  if (status !== "completed" && status !== "failed")
    throw new InvalidInput(`execution ${id} was ${status} - record one that completed or failed`);
}

async function testOf(nova: NovaClient, trace: ShownTrace, name: string): Promise<Test> {
  const { execution_id: id, workflow: workflowId, version } = trace;
  const workflow = await readWorkflow(nova, workflowId, version);
  const wanted = new Set<string>();
  const blobs: Blobs = {
    load: (sha256) => readBlob(nova, id, sha256),
    onBytes: ({ sha256 }) => void wanted.add(sha256),
  };
  const outcomes: Fixture["outcomes"] = {};
  const { code, prompts } = hashCode(workflow);
  for (const { place, entry } of listSteps(trace).steps) {
    const outcome = await outcomeOf(entry, blobs);
    if (outcome) outcomes[place] = outcome;
    const node = nodeIndex(workflow).get(entry.node_id)?.node;
    const isWritten = node && "executor" in node && node.executor.kind === "prompt";
    if (isWritten && entry.code_hash) code[node.id] = shortHash(entry.code_hash);
  }
  const input = await wholeMembers(trace.entries[0]?.changes.set.text ?? "{}", blobs);
  const expect = await expectationOf(trace, blobs);
  const format = parseExact("1");
  const fixture: Fixture = { format, workflow: workflowId, recorded_from: id, input, code, prompts, outcomes, expect };
  return { name, fixture, files: await bytesOf(wanted, blobs) };
}

async function bytesOf(wanted: ReadonlySet<string>, { load }: Blobs): Promise<TestFiles> {
  const files: TestFiles = new Map();
  for (const sha256 of wanted) {
    const bytes = await load(sha256);
    if (bytes) files.set(sha256, bytes);
  }
  return files;
}

/**
 * Returns the test with `"$any"` as the expected value of the varying keys. Decisions and errors must still be equal,
 * because they determine the path.
 */
function loosen(fixture: Fixture, varying: readonly { place: string | null; key: string }[]): Fixture {
  const loose = copyOf(fixture);
  for (const { place, key } of varying) {
    const values = place === null ? loose.expect.context : loose.outcomes[place]?.set;
    if (values && Object.hasOwn(values, key)) values[key] = { $any: true };
  }
  return loose;
}

/** Copies the outcomes and the expectation two levels deep, because only values at that depth are replaced. */
function copyOf({ outcomes, expect, ...same }: Fixture): Fixture {
  const copied = Object.entries(outcomes).map(([place, outcome]) => [place, { ...outcome, set: { ...outcome.set } }]);
  const context = expect.context && { ...expect.context };
  return { ...same, outcomes: Object.fromEntries(copied), expect: { ...expect, ...(context && { context }) } };
}
