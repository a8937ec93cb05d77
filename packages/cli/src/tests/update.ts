import { toStateMachine } from "@nova/compiler";
import { nodeIndex, type Workflow } from "@nova/workflow";
import { nodeOfPlace } from "../api/recorded.ts";
import { printError, styled } from "../output/terminal.ts";
import { type FirstDifference, findStaleNodes, isUnrecorded, type TestRun } from "./compare.ts";
import { type Fixture, type Test, type TestFiles, type TestFolder, writeTest } from "./fixture.ts";
import { expectationOf, hashCode, listSteps, outcomeOf, type ShownRun } from "./steps.ts";
import type { TestRunner } from "./test-cloud.ts";
import { type Blobs, type Expression, fits, hasForm, type WholeValue } from "./values.ts";

/**
 * Writes the current outcome of a test into its file. Nodes with changed code run without network and credentials,
 * unless the definition says that they have effects. Returns null after the update; otherwise the reason why the test
 * cannot be updated.
 */
export async function updateTest(runner: TestRunner, folder: TestFolder, old: Test): Promise<FirstDifference | null> {
  const { workflow } = folder;
  const test = { ...old, fixture: withNewNames(old.fixture, workflow) };
  const tried = findTriedNodes(test.fixture, workflow);
  for (;;) {
    const trying = withoutEffects(workflow, tried);
    const version = await runner.publish({ workflow: trying, definition: JSON.stringify(toStateMachine(trying)) });
    const run = await runner.run(version, test);
    const failure = failureOf(run.trace, test.fixture, tried);
    if (failure && "message" in failure) return failure;
    if (failure) {
      const kept = `the test "${test.name}" keeps the recorded outcome of "${failure.node}"`;
      printError(styled("yellow", `nova: ${kept}: ${failure.why}`));
      tried.delete(failure.node);
      continue;
    }
    await writeTest(folder.folder, await updatedTest(test, run, { workflow, runner }), { replaces: true });
    return null;
  }
}

/**
 * Finds the nodes that run for the update. Their code has changed or has no record, and their definition does not say
 * whether they have effects.
 */
function findTriedNodes(fixture: Fixture, workflow: Workflow): Set<string> {
  const stale = new Set(findStaleNodes(fixture, workflow).map(({ node }) => node));
  const nodes = Array.from(nodeIndex(workflow).values(), ({ node }) => node);
  const tried = nodes.filter((node) => {
    if (!("executor" in node) || node.effects !== undefined) return false;
    const isThere = node.executor.kind === "code" || workflow.lock?.[node.id] !== undefined;
    return isThere && (stale.has(node.id) || fixture.code[node.id] === undefined);
  });
  return new Set(tried.map(({ id }) => id));
}

function withoutEffects(workflow: Workflow, ids: ReadonlySet<string>): Workflow {
  const changed = structuredClone(workflow);
  for (const { node } of nodeIndex(changed).values()) if ("executor" in node && ids.has(node.id)) node.effects = false;
  return changed;
}

/**
 * Returns the reason why a run cannot update the test; null if it can. A reason is a node without a recorded outcome
 * that must not run. Another reason is a tried node that fails although its recorded outcome is no failure.
 */
function failureOf(
  trace: ShownRun,
  { outcomes }: Fixture,
  tried: ReadonlySet<string>,
): FirstDifference | { node: string; why: string } | null {
  for (const { place, entry } of listSteps(trace).steps) {
    const recorded = outcomes[place];
    const at = (message: string) => ({ place, message, keys: [] });
    if (isUnrecorded(entry))
      return at(`"${place}" must not run, and has no recorded outcome - record another execution`);
    if (entry.status === "success" || !tried.has(nodeOfPlace(place)) || recorded?.error) continue;
    const why = `its code fails without network and credentials (${entry.error_message})`;
    return recorded
      ? { node: nodeOfPlace(place), why }
      : at(`"${place}" has no recorded outcome, and ${why} - record another execution`);
  }
  return null;
}

function withNewNames(fixture: Fixture, workflow: Workflow): Fixture {
  const gone = findStaleNodes(fixture, workflow);
  const names = new Map(gone.flatMap(({ node, renamed }) => (renamed ? [[node, renamed]] : [])));
  if (names.size === 0) return fixture;
  const renamed = (place: string) =>
    place.replaceAll(/(?<=^|\/|\]\.)[A-Za-z_][\w-]*/g, (node) => names.get(node) ?? node);
  const keys = <T>(all: Readonly<Record<string, T>>) =>
    Object.fromEntries(Object.entries(all).map(([key, value]) => [renamed(key), value]));
  const { path, decisions, error } = fixture.expect;
  const expect = {
    ...fixture.expect,
    ...(path && { path: path.map(renamed) }),
    ...(decisions && { decisions: keys(decisions) }),
    ...(error && { error: { ...error, node: renamed(error.node) } }),
  };
  const { code, prompts, outcomes } = fixture;
  return { ...fixture, code: keys(code), prompts: keys(prompts), outcomes: keys(outcomes), expect };
}

/**
 * Builds a test with the current outcomes. A form in the old test, such as `{"$any": true}`, stays if the new value
 * matches it.
 */
async function updatedTest(
  { name, fixture, files: oldFiles }: Test,
  { trace, live, blobs }: TestRun,
  { workflow, runner }: { workflow: Workflow; runner: TestRunner },
): Promise<Test> {
  const files: TestFiles = new Map(oldFiles);
  const wanted = new Set<string>();
  const reading: Blobs = { load: (sha256) => blobs.load(sha256), onBytes: ({ sha256 }) => void wanted.add(sha256) };
  const keepForms = async (before: Values, now: Values): Promise<Values> => {
    const members = Object.entries(now).map(async ([key, is]) => {
      const was = before[key];
      return [key, was !== undefined && hasForm(was) && (await matches(was, is, runner)) ? was : is] as const;
    });
    return Object.fromEntries(await Promise.all(members));
  };
  const outcomes: Fixture["outcomes"] = {};
  for (const { place, entry } of listSteps(trace).steps) {
    const [before, now] = [fixture.outcomes[place], await outcomeOf(entry, reading)];
    if (!now) continue;
    if (!before) outcomes[place] = now;
    else if (live.has(nodeOfPlace(place))) outcomes[place] = { ...now, set: await keepForms(before.set, now.set) };
    else outcomes[place] = before;
  }
  const { expect: old, input } = fixture;
  const { status, error, path, decisions, context = {} } = await expectationOf(trace, reading);
  const sets = [input, ...Object.values(fixture.outcomes).map(({ set }) => set)];
  const known = new Set(sets.flatMap((set) => Object.keys(set)));
  const kept = Object.entries(context).filter(([key]) => !known.has(key) || Object.hasOwn(old.context ?? {}, key));
  // The test expects a path, decisions and a context only if the old test did.
  const expect: Fixture["expect"] = {
    status,
    ...(error && { error }),
    ...(old.path && path && { path }),
    ...(old.decisions && decisions && { decisions }),
    ...(old.context && { context: await keepForms(old.context, Object.fromEntries(kept)) }),
  };
  for (const sha256 of wanted) {
    const bytes = files.has(sha256) ? null : await blobs.load(sha256);
    if (bytes) files.set(sha256, bytes);
  }
  return { name, fixture: { ...fixture, ...hashCurrent(fixture, workflow), outcomes, expect }, files };
}

type Values = Record<string, WholeValue>;

async function matches(was: WholeValue, is: WholeValue, { evaluate }: TestRunner): Promise<boolean> {
  const later: Expression[] = [];
  if (!(await fits(was, is, later))) return false;
  return later.length === 0 || (await evaluate(later)).every((why) => why === null);
}

/** Hashes the current code. A prompt node without locked code keeps the hash of the code that ran. */
function hashCurrent(old: Fixture, workflow: Workflow): Pick<Fixture, "code" | "prompts"> {
  const { code, prompts } = hashCode(workflow);
  for (const id of Object.keys(prompts)) {
    const ran = old.code[id];
    if (code[id] === undefined && ran !== undefined) code[id] = ran;
  }
  return { code, prompts };
}
