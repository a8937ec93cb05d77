import { copyFile, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { compileWorkflow } from "@nova/compiler";
import {
  asWritten,
  type FileInPlace,
  newFileMark,
  objectText,
  placeFiles,
  readTrace,
  startExecution,
  type WorkflowVersion,
} from "@nova/engine";
import type { LocalCloud } from "@nova/local";
import { ulid } from "ulid";
import { nodeOfPlace } from "../api/recorded.ts";
import { dataFolder, openCloud } from "../cloud.ts";
import { InvalidInput } from "../errors.ts";
import type { Checked } from "../run/request.ts";
import { publishHere } from "../run/start.ts";
import type { Evaluate, TestRun } from "./compare.ts";
import type { Fixture, FixtureOutcome, Test, TestFiles } from "./fixture.ts";
import { listLiveNodes } from "./steps.ts";
import { hasForm, textForRun } from "./values.ts";

type TestInput = Omit<Test, "fixture"> & { fixture: Pick<Fixture, "input" | "outcomes"> };

export interface TestRunner {
  /** Publishes the workflow of a test folder. Throws `PythonMissing`. */
  publish(checked: Checked): Promise<WorkflowVersion>;
  /**
   * Runs a test without effects. Throws `InputsRefused`, or `InvalidInput` if a recorded outcome contains a form, such
   * as `{"$any": true}`, instead of a value.
   */
  run(version: WorkflowVersion, test: TestInput): Promise<TestRun>;
  evaluate: Evaluate;
}

/** Calls `work` with a cloud in a temporary folder, so that a test sees no other runs and leaves no data. */
export async function withTestCloud<T>(work: (runner: TestRunner) => Promise<T>): Promise<T> {
  const dataDir = await mkdtemp(join(tmpdir(), "nova-tests-"));
  await lendPackages(dataDir);
  const cloud = await openCloud({ dataDir });
  try {
    return await work(testRunner(cloud));
  } finally {
    await cloud.close({ interrupt: true });
    await rm(dataDir, { recursive: true, force: true });
  }
}

export function testRunner(cloud: Pick<LocalCloud, "ports" | "templateFor" | "untilEnd">): TestRunner {
  const { ports } = cloud;
  let evaluating: Promise<WorkflowVersion> | undefined;
  const runner: TestRunner = {
    publish: (checked) => publishHere(cloud, checked),
    async run(version, { name, fixture, files }) {
      const id = `exec_${ulid()}`;
      const home = { client: "default", root: id };
      const live = listLiveNodes(version.workflow);
      const placed: FileInPlace[] = [];
      const context = textForRun(fixture.input, (sha256) => markOf(sha256, files, placed));
      const written = Object.entries(fixture.outcomes)
        .filter(([place]) => !live.has(nodeOfPlace(place)))
        .map(([place, outcome]) => ({ key: place, ...outcomeText(outcome, files, { test: name, place }) }));
      for (const { sha256, bytes, open } of written.flatMap((outcome) => outcome.files))
        await ports.blobs.put(home, { sha256, bytes, type: "bytes" }, open());
      const outcomes = { document: objectText(written), sealed: true };
      await startExecution(ports, { context, files: placed, id, version, outcomes });
      await cloud.untilEnd(id);
      const { execution, context: found, entries } = asWritten(await readTrace(ports, id));
      const { workflowId, status, error = null } = execution;
      const ran = { execution_id: id, workflow: workflowId, version: execution.version, status, error };
      return {
        trace: { ...ran, context: found, entries },
        live,
        blobs: { load: (sha256) => ports.blobs.get(home, sha256) },
      };
    },
    async evaluate(expressions) {
      evaluating ??= compileWorkflow({ text: evaluator, fileName: "workflow.json", files: {} }).then((compiled) => {
        if (!compiled.workflow) throw new TypeError("the workflow that evaluates expressions has errors");
        return runner.publish(compiled);
      });
      const input = { python: expressions.map(({ python }) => python), values: expressions.map(({ value }) => value) };
      const test = { name: "python", fixture: { input, outcomes: {} }, files: new Map() };
      const { trace } = await runner.run(await evaluating, test);
      const { results } = JSON.parse(trace.context.text) as { results?: (string | null)[] };
      return results ?? expressions.map(() => trace.error?.message ?? "it was not evaluated");
    },
  };
  return runner;
}

/**
 * Gives the test cloud this machine's Python, installed packages and documentation index, because installing them again
 * takes longer than all tests.
 */
async function lendPackages(dataDir: string): Promise<void> {
  await copyFile(join(dataFolder(), "python.json"), join(dataDir, "python.json")).catch(() => undefined);
  for (const name of ["templates", "docstrings"]) {
    const own = join(dataFolder(), name);
    const isThere = await mkdir(own, { recursive: true }).catch(() => "unwritable");
    if (isThere !== "unwritable") await symlink(resolve(own), join(dataDir, name));
  }
}

const code = `
context["results"] = []
for source, value in zip(context["python"], context["values"]):
    try:
        holds = eval(source, {"value": value})
        context["results"].append(None if holds else "")
    except Exception as error:
        context["results"].append(f"{type(error).__name__}: {error}")
`;

/** A workflow whose node evaluates the Python expressions of a test, so that the sandbox isolates them. */
const evaluator = JSON.stringify({
  id: "nova-test-python",
  nodes: [
    { id: "start", type: "start" },
    { id: "evaluate", type: "action", effects: false, code },
    { id: "end", type: "end" },
  ],
  edges: [
    { from: "start", to: "evaluate" },
    { from: "evaluate", to: "end" },
  ],
});

/** Returns the recorded outcome of a node that the test does not run, as JSON text, with the files that it names. */
function outcomeText(
  { set, delete: deleted, decision, error, reply }: FixtureOutcome,
  all: TestFiles,
  { test, place }: { test: string; place: string },
): { json: string; files: FileInPlace[] } {
  if (hasForm(set) || (error && hasForm(error.message)))
    throw new InvalidInput(
      `the test "${test}" uses the recorded outcome of "${place}", which has a form - write a value instead`,
    );
  if (reply !== undefined) return { json: objectText([{ key: "reply", json: JSON.stringify(reply) }]), files: [] };
  const files: FileInPlace[] = [];
  const text = textForRun(set, (sha256) => markOf(sha256, all, files));
  const failed = error && { class: error.class, message: String(error.message) };
  const json = objectText([
    failed ? { key: "error", json: JSON.stringify(failed) } : { key: "set", json: placeFiles(text, files) },
    { key: "delete", json: JSON.stringify(deleted) },
    { key: "decision", json: JSON.stringify(decision) },
  ]);
  return { json, files };
}

/** Returns a placeholder for bytes in a text, and adds the file with these bytes to `used`. */
function markOf(sha256: string, all: TestFiles, used: FileInPlace[]): string {
  const known = used.find((file) => file.sha256 === sha256);
  if (known) return known.mark;
  const content = all.get(sha256);
  if (!content) throw new InvalidInput(`a test has lost the bytes ${sha256} - record it again`);
  const open = async function* () {
    yield content;
  };
  const file = { mark: newFileMark(), sha256, bytes: content.length, open };
  used.push(file);
  return file.mark;
}
