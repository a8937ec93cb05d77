import { type Difference, noOutcome } from "@nova/engine";
import { nodeIndex, type Workflow } from "@nova/workflow";
import { nodeOfPlace } from "../api/recorded.ts";
import type { Fixture } from "./fixture.ts";
import {
  expectationOf,
  hashCode,
  listLiveNodes,
  listSteps,
  outcomeOf,
  type ShownRun,
  type Step,
  valuesByKey,
} from "./steps.ts";
import { type Blobs, type Expression, fits, type WholeValue } from "./values.ts";

/** The first difference between a run and its test. `place` is null if the difference does not belong to one node. */
export interface FirstDifference {
  place: string | null;
  message: string;
  keys: Difference[];
}

/** Evaluates Python expressions. Returns for each expression why it is not true; null for a true expression. */
export type Evaluate = (expressions: readonly Expression[]) => Promise<(string | null)[]>;

export interface TestRun {
  trace: ShownRun;
  live: ReadonlySet<string>;
  blobs: Blobs;
}

/**
 * Finds the first difference between a run and its test, in the order in which the nodes ran; null if there is none.
 */
export async function findFirstDifference(
  fixture: Fixture,
  run: TestRun,
  evaluate: Evaluate,
): Promise<FirstDifference | null> {
  const { steps } = listSteps(run.trace);
  for (const step of steps) {
    const found = await stepDifference(fixture, run, step, evaluate);
    if (found) return found;
  }
  return endDifference(fixture, run, evaluate);
}

/**
 * For a test without expressions: finds every key that differs between the run and the test, first node by node, then
 * in the final context.
 */
export async function findEveryDifference(
  { outcomes, expect }: Fixture,
  { trace, live, blobs }: TestRun,
): Promise<{ place: string | null; key: string }[]> {
  const found: { place: string | null; key: string }[] = [];
  const compare = async (place: string | null, ...values: [Values, Values]) => {
    for (const { key } of await keyDifferences(...values, async () => [])) found.push({ place, key });
  };
  for (const { place, entry, isChance } of listSteps(trace).steps) {
    const recorded = outcomes[place];
    const now = await outcomeOf(entry, blobs);
    if (isChance || !now || !recorded || !live.has(nodeOfPlace(place))) continue;
    await compare(place, valuesByKey(recorded), valuesByKey(now));
  }
  const now = await expectationOf(trace, blobs);
  await compare(null, new Map(Object.entries(expect.context ?? {})), new Map(Object.entries(now.context ?? {})));
  return found;
}

type Values = ReadonlyMap<string, WholeValue>;

async function stepDifference(
  { outcomes }: Fixture,
  { live, blobs }: TestRun,
  { place, entry, isChance }: Step,
  evaluate: Evaluate,
): Promise<FirstDifference | null> {
  if (isChance) return null;
  const node = nodeOfPlace(place);
  if (isUnrecorded(entry)) return { place, message: `"${place}" must not run, and has no recorded outcome`, keys: [] };
  const now = await outcomeOf(entry, blobs);
  if (now === null || (!live.has(node) && outcomes[place])) return null;
  const recorded = outcomes[place];
  if (!recorded) return { place, message: `"${place}" ran, but did not run when the test was recorded`, keys: [] };
  const keys = await keyDifferences(valuesByKey(recorded), valuesByKey(now), evaluate);
  return keys.length === 0 ? null : { place, message: `"${place}" has another outcome`, keys };
}

/** Returns whether a node failed only because it must not run in a test and has no recorded outcome. */
export function isUnrecorded({ status, error_message }: Step["entry"]): boolean {
  return status === "failed" && error_message?.startsWith(noOutcome) === true;
}

async function endDifference(
  { expect }: Fixture,
  { trace, blobs }: TestRun,
  evaluate: Evaluate,
): Promise<FirstDifference | null> {
  const now = await expectationOf(trace, blobs);
  const at = (place: string | null, message: string, keys: Difference[] = []) => ({ place, message, keys });
  const turn = expect.path && pathDifference(expect.path, now.path ?? []);
  if (turn) return at(turn.place, turn.message);
  for (const [place, label] of Object.entries(expect.decisions ?? {})) {
    const is = now.decisions?.[place];
    if (is !== label)
      return at(place, `"${place}" made another decision`, [differenceOf("branch_decision", label, is)]);
  }
  if (expect.status !== now.status) return at(null, `the run has the status ${now.status}, not ${expect.status}`);
  const error = (told: Fixture["expect"]) => new Map(told.error ? [["error", told.error as WholeValue]] : []);
  const named = Object.entries(expect.context ?? {});
  const context = new Map(
    named.flatMap(([key]) => (Object.hasOwn(now.context ?? {}, key) ? [[key, now.context?.[key] as WholeValue]] : [])),
  );
  const keys = [
    ...(expect.error ? await keyDifferences(error(expect), error(now), evaluate) : []),
    ...(await keyDifferences(new Map(named), context, evaluate)),
  ];
  return keys.length === 0 ? null : at(null, "the run ended with another context", keys);
}

function pathDifference(was: readonly string[], is: readonly string[]) {
  const at = was.findIndex((place, index) => place !== is[index]);
  if (at < 0 && was.length === is.length) return undefined;
  const [before, now] = at < 0 ? [undefined, is[was.length]] : [was[at], is[at]];
  if (now === undefined) return { place: before ?? null, message: `the run did not reach "${before}"` };
  const message =
    before === undefined ? `the run continued to "${now}"` : `the run reached "${now}" instead of "${before}"`;
  return { place: now, message };
}

function differenceOf(key: string, was: WholeValue | undefined, is: WholeValue | undefined): Difference {
  const text = (value: WholeValue | undefined) => (value === undefined ? null : JSON.stringify(value));
  return { key, recorded: text(was), now: text(is) };
}

/**
 * Compares the values of all keys. Evaluates all Python expressions of the test together, after the other comparisons.
 */
async function keyDifferences(
  expected: ReadonlyMap<string, WholeValue>,
  now: ReadonlyMap<string, WholeValue>,
  evaluate: Evaluate,
): Promise<Difference[]> {
  const found = new Map<string, Difference>();
  const later: (Expression & { key: string })[] = [];
  for (const key of new Set([...expected.keys(), ...now.keys()])) {
    const [was, is] = [expected.get(key), now.get(key)];
    const expressions: Expression[] = [];
    const isAsExpected = was !== undefined && is !== undefined && (await fits(was, is, expressions));
    if (isAsExpected) later.push(...expressions.map((one) => ({ ...one, key })));
    else found.set(key, differenceOf(key, was, is));
  }
  const failures = later.length === 0 ? [] : await evaluate(later);
  for (const [index, { key, python, value }] of later.entries()) {
    const why = failures[index] ?? null;
    if (why === null || found.has(key)) continue;
    found.set(key, differenceOf(key, { $python: why === "" ? python : `${python} (${why})` }, value));
  }
  return Array.from(found.values()).sort((a, b) => (a.key < b.key ? -1 : 1));
}

export interface Staleness {
  node: string;
  message: string;
  renamed?: string;
}

/**
 * Finds nodes that have changed although the test uses their recorded outcome. A node that the test itself runs may
 * change.
 */
export function findStaleNodes(fixture: Fixture, workflow: Workflow): Staleness[] {
  const index = nodeIndex(workflow);
  const live = listLiveNodes(workflow);
  const recorded = new Set(Object.keys(fixture.outcomes).map(nodeOfPlace));
  return Array.from(recorded).flatMap((node): Staleness[] => {
    if (!index.has(node)) return [goneNode(node, fixture, workflow)];
    const changed = live.has(node) ? undefined : changedPart(node, fixture, workflow);
    return changed
      ? [{ node, message: `the ${changed} of node "${node}" was changed since its outcome was recorded` }]
      : [];
  });
}

function changedPart(node: string, was: Fixture, workflow: Workflow): "prompt" | "code" | undefined {
  const is = hashCode(workflow);
  if (was.prompts[node] !== is.prompts[node]) return "prompt";
  const [before, now] = [was.code[node], is.code[node]];
  // Two kinds of code cannot be compared: code without a record, and the code that a model has yet to write for an
  // unlocked prompt node.
  const isKnown = before !== undefined && (now !== undefined || is.prompts[node] === undefined);
  return isKnown && before !== now ? "code" : undefined;
}

/**
 * Describes a node that is not in the workflow any more. If exactly one new node has the same code, the description
 * says that the old node was renamed to the new node.
 */
function goneNode(node: string, fixture: Fixture, workflow: Workflow): Staleness {
  const { code, prompts } = hashCode(workflow);
  const isNew = (id: string) => fixture.code[id] === undefined && fixture.prompts[id] === undefined;
  const ids = Array.from(new Set([...Object.keys(code), ...Object.keys(prompts)])).filter(isNew);
  const alike = ids.filter((id) =>
    prompts[id] === undefined
      ? code[id] === fixture.code[node] && fixture.prompts[node] === undefined
      : prompts[id] === fixture.prompts[node],
  );
  const message = `node "${node}" is not in the workflow any more`;
  const [renamed] = alike;
  if (renamed === undefined || alike.length > 1) return { node, message };
  return { node, message: `${message}: it is called "${renamed}" now`, renamed };
}
