import { toStateMachine } from "@nova/compiler";
import { nodeIndex, type Workflow } from "@nova/workflow";
import { nodeOfPlace } from "../api/recorded.ts";
import { printError, styled } from "../output/terminal.ts";
import { type Evaluate, type FirstDifference, findStaleNodes, isUnrecorded, type TestRun } from "./compare.ts";
import { type Fixture, type FixtureOutcome, type Test, type TestFiles, type TestFolder, writeTest } from "./fixture.ts";
import { expectationOf, hashCode, listLiveNodes, listSteps, outcomeOf, type ShownRun } from "./steps.ts";
import { recordedOutcomes, type TestCloud } from "./test-cloud.ts";
import { type Blobs, type Expression, fits, hasForm, type WholeValue } from "./values.ts";

/**
 * Writes the current outcome of a test into its file. Nodes with changed code run without network and credentials,
 * unless the definition says that they have effects. Returns why the test cannot be updated; null: it is written.
 */
export async function updateTest(cloud: TestCloud, folder: TestFolder, old: Test): Promise<FirstDifference | null> {
  const { workflow } = folder;
  const test = { ...old, fixture: withNewNames(old.fixture, workflow) };
  const tried = findTriedNodes(test.fixture, workflow);
  for (;;) {
    const trying = withoutEffects(workflow, tried);
    const version = await cloud.publish({ workflow: trying, definition: JSON.stringify(toStateMachine(trying)) });
    const live = listLiveNodes(trying);
    const outcomes = recordedOutcomes(test, live);
    const { trace, blobs } = await cloud.run({ version, input: test.fixture.input, outcomes, files: test.files });
    const failure = failureOf(trace, test.fixture, tried);
    if (failure && "message" in failure) return failure;
    if (failure) {
      printError(
        styled(
          "yellow",
          `nova: the test "${test.name}" keeps the recorded outcome of "${failure.node}": ${failure.why}`,
        ),
      );
      tried.delete(failure.node);
      continue;
    }
    const evaluate: Evaluate = (expressions) => cloud.evaluate(expressions);
    const updated = await new Update(test, { trace, blobs, live, evaluate }).test(workflow);
    await writeTest(folder.folder, updated, { replaces: true });
    return null;
  }
}

/** Nodes with changed or unrecorded code whose definition does not mention effects. */
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
 * The reason why a run cannot update the test: a node without a recorded outcome, or a tried node that fails although
 * its record did not.
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

/** Replaces the names of renamed nodes in all places. */
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

interface CurrentRun extends TestRun {
  evaluate: Evaluate;
}

/** Builds a test with the current outcomes. Forms stay as long as they match. */
class Update {
  readonly #old: Test;
  readonly #now: CurrentRun;
  readonly #files: TestFiles;
  readonly #wanted = new Set<string>();
  readonly #blobs: Blobs;

  constructor(old: Test, now: CurrentRun) {
    this.#old = old;
    this.#now = now;
    this.#files = new Map(old.files);
    this.#blobs = { load: (sha256) => now.blobs.load(sha256), onBytes: ({ sha256 }) => void this.#wanted.add(sha256) };
  }

  async test(workflow: Workflow): Promise<Test> {
    const { name, fixture } = this.#old;
    const outcomes: Fixture["outcomes"] = {};
    for (const { place, entry } of listSteps(this.#now.trace).steps) {
      const [before, is] = [fixture.outcomes[place], await outcomeOf(entry, this.#blobs)];
      const isRecorded = before && !this.#now.live.has(nodeOfPlace(place));
      if (is) outcomes[place] = isRecorded ? before : await this.#outcome(before, is);
    }
    const expect = await this.#expectation();
    for (const sha256 of this.#wanted) {
      const bytes = this.#files.has(sha256) ? null : await this.#now.blobs.load(sha256);
      if (bytes) this.#files.set(sha256, bytes);
    }
    return { name, fixture: { ...fixture, ...this.#codeOf(workflow), outcomes, expect }, files: this.#files };
  }

  /** An unlocked prompt node keeps the hash of the code that ran. */
  #codeOf(workflow: Workflow): Pick<Fixture, "code" | "prompts"> {
    const { code, prompts } = hashCode(workflow);
    for (const id of Object.keys(prompts)) {
      const ran = this.#old.fixture.code[id];
      if (code[id] === undefined && ran !== undefined) code[id] = ran;
    }
    return { code, prompts };
  }

  async #outcome(before: FixtureOutcome | undefined, now: FixtureOutcome): Promise<FixtureOutcome> {
    return before ? { ...now, set: await this.#kept(before.set, now.set) } : now;
  }

  /** Parts that the test does not expect stay absent. */
  async #expectation(): Promise<Fixture["expect"]> {
    const { expect: old, input, outcomes } = this.#old.fixture;
    const { status, error, path, decisions, context = {} } = await expectationOf(this.#now.trace, this.#blobs);
    const known = new Set([input, ...Object.values(outcomes).map(({ set }) => set)].flatMap((set) => Object.keys(set)));
    const kept = Object.entries(context).filter(([key]) => !known.has(key) || Object.hasOwn(old.context ?? {}, key));
    return {
      status,
      ...(error && { error }),
      ...(old.path && path && { path }),
      ...(old.decisions && decisions && { decisions }),
      ...(old.context && { context: await this.#kept(old.context, Object.fromEntries(kept)) }),
    };
  }

  async #kept(
    before: Readonly<Record<string, WholeValue>>,
    now: Readonly<Record<string, WholeValue>>,
  ): Promise<Record<string, WholeValue>> {
    const members = Object.entries(now).map(async ([key, is]) => {
      const was = before[key];
      return [key, was !== undefined && hasForm(was) && (await this.#fits(was, is)) ? was : is] as const;
    });
    return Object.fromEntries(await Promise.all(members));
  }

  async #fits(was: WholeValue, is: WholeValue): Promise<boolean> {
    const later: Expression[] = [];
    if (!(await fits(was, is, later))) return false;
    return later.length === 0 || (await this.#now.evaluate(later)).every((why) => why === null);
  }
}
