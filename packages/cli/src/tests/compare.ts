import { noOutcome } from "@nova/engine";
import { nodeAt } from "../replay/recorded.ts";
import type { Fixture } from "./fixture.ts";
import { type Expression, fits } from "./forms.ts";
import { comparable, expectationOf, outcomeOf, type ShownRun, type Step, stepsOf } from "./steps.ts";
import type { Blobs, WholeValue } from "./values.ts";

/** Where a run leaves what a test says; `place` is null where no node is meant. */
export interface FirstDifference {
  place: string | null;
  /** One sentence. */
  message: string;
  keys: KeyDifference[];
}

/** A key with another value than the test has; undefined: it is not set. */
export interface KeyDifference {
  key: string;
  was: WholeValue | undefined;
  is: WholeValue | undefined;
}

/** Says of each expression why it does not hold; null: it does. */
export type Evaluate = (expressions: readonly Expression[]) => Promise<(string | null)[]>;

/** A run of a test, and which of its nodes ran. */
export interface TestRun {
  trace: ShownRun;
  live: ReadonlySet<string>;
  blobs: Blobs;
}

/** The first place, in the order of the run, at which it is not as the test says; null: it is. */
export async function firstDifference(
  fixture: Fixture,
  run: TestRun,
  evaluate: Evaluate,
): Promise<FirstDifference | null> {
  const { steps } = stepsOf(run.trace);
  for (const step of steps) {
    const found = await stepDifference(fixture, run, step, evaluate);
    if (found) return found;
  }
  return endDifference(fixture, run, evaluate);
}

/** Every key with another value than a test without expressions has: node by node, then in the context at the end. */
export async function everyDifference(
  { outcomes, expect }: Fixture,
  { trace, live, blobs }: TestRun,
): Promise<{ place: string | null; key: string }[]> {
  const found: { place: string | null; key: string }[] = [];
  const compare = async (place: string | null, ...values: [Values, Values]) => {
    for (const { key } of await keyDifferences(...values, async () => [])) found.push({ place, key });
  };
  for (const { place, entry, isChance } of stepsOf(trace).steps) {
    const recorded = outcomes[place];
    const now = await outcomeOf(entry, blobs);
    if (isChance || !now || !recorded || !live.has(nodeAt(place))) continue;
    await compare(place, comparable(recorded), comparable(now));
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
  const node = nodeAt(place);
  if (isUnrecorded(entry))
    return { place, message: `"${place}" would have to run, and no outcome of it is on record`, keys: [] };
  const now = await outcomeOf(entry, blobs);
  if (now === null || (!live.has(node) && outcomes[place])) return null;
  const recorded = outcomes[place];
  if (!recorded) return { place, message: `"${place}" has run, and had not when the test was recorded`, keys: [] };
  const keys = await keyDifferences(comparable(recorded), comparable(now), evaluate);
  return keys.length === 0 ? null : { place, message: `"${place}" came to something else`, keys };
}

/** A node that was to run and may not: nothing goes outside. */
export function isUnrecorded({ status, error_message }: Step["entry"]): boolean {
  return status === "failed" && error_message?.startsWith(noOutcome) === true;
}

async function endDifference(
  { expect }: Fixture,
  { trace, blobs }: TestRun,
  evaluate: Evaluate,
): Promise<FirstDifference | null> {
  const now = await expectationOf(trace, blobs);
  const at = (place: string | null, message: string, keys: KeyDifference[] = []) => ({ place, message, keys });
  const turn = expect.path && pathDifference(expect.path, now.path ?? []);
  if (turn) return at(turn.place, turn.message);
  for (const [place, label] of Object.entries(expect.decisions ?? {})) {
    const is = now.decisions?.[place];
    if (is !== label) return at(place, `"${place}" decided otherwise`, [{ key: "branch_decision", was: label, is }]);
  }
  if (expect.status !== now.status) return at(null, `the run has ${now.status}, and not ${expect.status}`);
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
  if (now === undefined) return { place: before ?? null, message: `the run never came to "${before}"` };
  const message =
    before === undefined ? `the run went on to "${now}"` : `the run came to "${now}" instead of "${before}"`;
  return { place: now, message };
}

/** In the order of the keys. A key that only an expression speaks of is asked for last, all of them at once. */
async function keyDifferences(
  expected: ReadonlyMap<string, WholeValue>,
  now: ReadonlyMap<string, WholeValue>,
  evaluate: Evaluate,
): Promise<KeyDifference[]> {
  const found = new Map<string, KeyDifference>();
  const later: (Expression & { key: string })[] = [];
  for (const key of new Set([...expected.keys(), ...now.keys()])) {
    const [was, is] = [expected.get(key), now.get(key)];
    const expressions: Expression[] = [];
    const isAsExpected = was !== undefined && is !== undefined && (await fits(was, is, expressions));
    if (isAsExpected) later.push(...expressions.map((one) => ({ ...one, key })));
    else found.set(key, { key, was, is });
  }
  const failures = later.length === 0 ? [] : await evaluate(later);
  for (const [index, { key, python, value }] of later.entries()) {
    const why = failures[index] ?? null;
    if (why === null || found.has(key)) continue;
    found.set(key, { key, was: { $python: why === "" ? python : `${python} (${why})` }, is: value });
  }
  return Array.from(found.values()).sort((a, b) => (a.key < b.key ? -1 : 1));
}
