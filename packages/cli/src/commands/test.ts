import { writeFile } from "node:fs/promises";
import { formatUsd } from "@nova/client";
import { atOnce, renderJson, type WorkflowVersion } from "@nova/engine";
import { readCount } from "../api/ask.ts";
import { exitCodes, InvalidInput, throwInvalid } from "../errors.ts";
import { Interrupt } from "../interrupt.ts";
import { type NodeProof, type ProofOutcome, proveNodes } from "../lock/prove.ts";
import { differenceLines, notSet, rawJson } from "../output/diff.ts";
import { type CommandOutput, styled } from "../output/terminal.ts";
import { tableLines, untrustedLine } from "../output/text.ts";
import { type FirstDifference, findFirstDifference, findStaleNodes } from "../tests/compare.ts";
import { readTestFolder, type Test, type TestFolder } from "../tests/fixture.ts";
import { type TestRunner, withTestCloud } from "../tests/test-cloud.ts";
import { updateTest } from "../tests/update.ts";
import { repeatOnChange } from "../watch.ts";
import { command } from "./command.ts";

export const test = command({
  summary: "run the tests of a workflow, or make a test from an execution",
  takes: {
    "<folder|add>": "folder with workflow.json or workflow.ts; or the word add, then an execution",
    "[execution_id]": "with add: the execution that becomes a test",
    "--name <n>": "with add: the name of the test; absent: the end of the execution's id",
    "--folder <path>": "with add: the folder of its workflow; absent: the one here, or below",
    "--loosen": "with add: allow any value at places where a second run gives another value",
    "--update": "write the current results into tests that fail or are stale",
    "--junit <file>": "also write the results as JUnit XML",
    "--watch": "run them again when a file in the folder changes",
    "--samples <n>": "run only the code that models wrote, on the last n recorded inputs",
  },
  json: "print one JSON object; exit 1 if a test failed or is stale",
  async run([path = "", execution], { name, folder, loosen, update, junit, watch, samples, json }) {
    if (path === "add") {
      if (execution === undefined)
        throw new InvalidInput("nova test add needs an execution: nova test add <execution> --name <n>");
      return (await import("../tests/add-test.ts")).addTest({ execution, name, folder, loosen: loosen === true });
    }
    if (execution !== undefined) throw new InvalidInput(`nova test takes one folder - leave out "${execution}"`);
    if (samples !== undefined) return sampleFolder(path, readCount("--samples", samples));
    const tests = await readTestFolder(path);
    const interrupt = new Interrupt();
    return withTestCloud(async (runner) => {
      const options = { update: update === true, junit };
      if (watch) return repeatOnChange(tests.folder, interrupt, () => testIn(runner, path, options), json);
      const running = testIn(runner, path, options, tests);
      running.catch(() => undefined);
      const stopped = interrupt.requested().then(() => {
        return { ...testOutput([]), text: "interrupted", code: exitCodes.interrupted };
      });
      return Promise.race([running, stopped]);
    });
  },
});

/**
 * Runs all tests of the workflow folder at `path`. With `update`, it also writes the new outcomes into the test files.
 */
export async function testIn(
  runner: TestRunner,
  path: string,
  { update, junit }: { update: boolean; junit?: string | undefined },
  known?: TestFolder,
): Promise<CommandOutput> {
  const folder = known ?? (await readTestFolder(path));
  const version = await runner.publish(folder);
  const run = async (test: Test): Promise<TestItem> => {
    const began = performance.now();
    const { status, first_difference } = await runOne(runner, { folder, version, update }, test);
    return { name: test.name, status, first_difference, ms: Math.round(performance.now() - began) };
  };
  const items = await atOnce(folder.tests, run, maxAtOnce);
  if (junit !== undefined)
    await writeFile(junit, junitText(folder.workflow.id, items)).catch(
      throwInvalid(`"${junit}" cannot be written - name another file`),
    );
  return testOutput(items);
}

export interface TestItem {
  name: string;
  /** `stale`: nodes have changed since the test was recorded; `updated`: the test now has the new outcome. */
  status: "passed" | "failed" | "stale" | "updated";
  first_difference: FirstDifference | null;
  ms: number;
}

/**
 * The number of tests that run at the same time. A test mostly waits for its sandbox, so several tests together take
 * less time.
 */
const maxAtOnce = 4;

async function runOne(
  runner: TestRunner,
  { folder, version, update }: { folder: TestFolder; version: WorkflowVersion; update: boolean },
  test: Test,
): Promise<Pick<TestItem, "status" | "first_difference">> {
  const [stale] = findStaleNodes(test.fixture, folder.workflow);
  const first_difference = stale
    ? { place: stale.node, message: `${stale.message} - --update writes the current outcome`, keys: [] }
    : await differenceFrom(runner, version, test);
  if (!first_difference) return { status: "passed", first_difference };
  const status = stale ? "stale" : "failed";
  if (!update) return { status, first_difference };
  const problem = await updateTest(runner, folder, test);
  return problem ? { status, first_difference: problem } : { status: "updated", first_difference: null };
}

async function differenceFrom(runner: TestRunner, version: WorkflowVersion, test: Test) {
  try {
    return await findFirstDifference(test.fixture, await runner.run(version, test), runner.evaluate);
  } catch (error) {
    if (!(error instanceof Error && refusals.has(error.name))) throw error;
    return { place: null, message: error.message, keys: [] };
  }
}

/** Names of errors that make only one test fail, while the other tests continue. */
const refusals = new Set(["InputsRefused", "OutcomesRefused", "InvalidInput"]);

/**
 * Builds the output for all tests. A stale test counts as a failure, because it proves nothing about the current
 * workflow.
 */
export function testOutput(items: readonly TestItem[]): CommandOutput {
  const { passed, failed, stale } = countsOf(items);
  const shown = items.map(({ name, status, first_difference: found }) => ({
    name,
    status,
    first_difference: found && {
      place: found.place,
      message: found.message,
      keys: found.keys.map(({ key, recorded, now }) => ({ key, was: rawJson(recorded), is: rawJson(now) })),
    },
  }));
  return {
    json: renderJson({ passed, failed, stale, items: shown }),
    text: [...items.flatMap(itemLines), countLine(items)],
    code: failed + stale === 0 ? exitCodes.completed : exitCodes.failed,
  };
}

export function countsOf(items: readonly TestItem[]): Record<"passed" | "failed" | "stale", number> {
  const count = (...statuses: TestItem["status"][]) => items.filter(({ status }) => statuses.includes(status)).length;
  return { passed: count("passed", "updated"), failed: count("failed"), stale: count("stale") };
}

const colours = { passed: "green", updated: "cyan", failed: "red", stale: "yellow" } as const;

function itemLines({ name, status, first_difference: found }: TestItem): string[] {
  return [
    `${styled(colours[status], status.padEnd(7))} ${name}`,
    ...(found ? [`  ${untrustedLine(found.message, 400)}`, ...differenceLines(found.keys)] : []),
  ];
}

function countLine(items: readonly TestItem[]): string {
  const { passed, failed, stale } = countsOf(items);
  const parts = [
    `${passed} passed`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(stale > 0 ? [`${stale} stale`] : []),
  ];
  return styled(failed + stale === 0 ? "green" : "red", parts.join(", "));
}

/** Writes test results as JUnit XML, which CI servers read. */
export function junitText(workflow: string, items: readonly TestItem[]): string {
  const { failed, stale } = countsOf(items);
  const seconds = (ms: number) => (ms / 1000).toFixed(3);
  const time = seconds(items.reduce((sum, { ms }) => sum + ms, 0));
  const suite = `name=${quoted(workflow)} tests="${items.length}" failures="${failed + stale}" errors="0" time="${time}"`;
  const cases = items.flatMap(({ name, status, first_difference: found, ms }) => {
    const open = `    <testcase classname=${quoted(workflow)} name=${quoted(name)} time="${seconds(ms)}"`;
    if (!found) return [`${open}/>`];
    const keys = found.keys.map(({ key, recorded, now }) => `${key}\n- ${recorded ?? notSet}\n+ ${now ?? notSet}`);
    const failure = `<failure type="${status}" message=${quoted(found.message)}>${escaped(keys.join("\n"))}</failure>`;
    return [`${open}>`, `      ${failure}`, "    </testcase>"];
  });
  return [
    `<?xml version="1.0" encoding="UTF-8"?>`,
    "<testsuites>",
    `  <testsuite ${suite}>`,
    ...cases,
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

function quoted(text: string): string {
  return `"${escaped(text).replaceAll("\n", "&#10;")}"`;
}

/** Escapes a text for XML. Most control characters are replaced, because XML 1.0 cannot contain them. */
function escaped(text: string): string {
  const marks: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return (
    text
      .toWellFormed()
      // biome-ignore lint/suspicious/noControlCharactersInRegex: XML does not allow these
      .replaceAll(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, "\ufffd")
      .replaceAll(/[&<>"]/g, (mark) => marks[mark] ?? mark)
  );
}

type Count = "same" | "differs" | "fails";

/**
 * The count to which each outcome is added. If the current code works and the recorded run failed, the outcome counts
 * as different.
 */
const countedAs: Record<ProofOutcome, Count> = {
  same: "same",
  differs: "differs",
  works: "differs",
  fails: "fails",
  fails_too: "fails",
};

/** Runs the current code of prompt nodes on their last recorded inputs, and counts the outcomes. */
export async function sampleFolder(path: string, count: number): Promise<CommandOutput> {
  const proofs = await proveNodes({ path, node: undefined, count, from: undefined });
  const nodes = proofs.map(countOutcomes);
  const same = nodes.every(({ refused, samples, same }) => refused === null && same === samples);
  return {
    json: { same, nodes },
    text: [
      ...(nodes.length === 0
        ? ["no node has a prompt, so no code can be sampled"]
        : tableLines(header, nodes.map(rowOf))),
      ...nodes.flatMap(({ refused }) => (refused === null ? [] : [styled("yellow", refused)])),
    ],
    code: same ? exitCodes.completed : exitCodes.failed,
  };
}

function countOutcomes(proof: NodeProof) {
  const none = { samples: 0, same: 0, differs: 0, fails: 0 };
  if ("refused" in proof) return { node: proof.node, refused: proof.refused, code_hash: null, ...none, cost_usd: 0 };
  const { node, codeHash, costUsd, runs } = proof;
  const all = Object.groupBy(runs, ({ outcome }) => countedAs[outcome]);
  const counts = { same: all.same?.length ?? 0, differs: all.differs?.length ?? 0, fails: all.fails?.length ?? 0 };
  return { node, refused: null, code_hash: codeHash, samples: runs.length, ...counts, cost_usd: costUsd };
}

const header = ["node", "samples", "same", "differs", "fails", "cost"];

function rowOf({ node, samples, same, differs, fails, cost_usd }: ReturnType<typeof countOutcomes>): string[] {
  return [node, ...[samples, same, differs, fails].map(String), formatUsd(cost_usd)];
}
