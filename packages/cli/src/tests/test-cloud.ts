import { copyFile, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { compileWorkflow } from "@nova/compiler";
import {
  asWritten,
  type BlobHome,
  type FileInPlace,
  newFileMark,
  objectText,
  type Ports,
  placeFiles,
  publishWorkflow,
  readTrace,
  type StartRequest,
  startExecution,
  type WorkflowVersion,
} from "@nova/engine";
import type { LocalCloud } from "@nova/local";
import { ulid } from "ulid";
import { nodeOfPlace } from "../api/recorded.ts";
import { dataFolder, openCloud } from "../cloud.ts";
import { InvalidInput } from "../errors.ts";
import type { Checked } from "../run/request.ts";
import type { Test, TestFiles } from "./fixture.ts";
import type { ShownRun } from "./steps.ts";
import { type Blobs, type Expression, hasForm, textForRun, type WholeValue } from "./values.ts";

export interface TestStart {
  version: WorkflowVersion;
  input: Readonly<Record<string, WholeValue>>;
  /** Recorded outcomes of the places that do not run. */
  outcomes: Readonly<Record<string, RecordedOutcome>>;
  files: TestFiles;
}

/** A cloud in a temporary folder, so that a test sees no other runs and leaves no data. */
export class TestCloud {
  readonly #cloud: LocalCloud;
  readonly #dataDir: string;
  #evaluating: Promise<WorkflowVersion> | undefined;

  private constructor(cloud: LocalCloud, dataDir: string) {
    this.#cloud = cloud;
    this.#dataDir = dataDir;
  }

  static async open(): Promise<TestCloud> {
    const dataDir = await mkdtemp(join(tmpdir(), "nova-tests-"));
    await lendPackages(dataDir);
    return new TestCloud(await openCloud({ dataDir }), dataDir);
  }

  async close(): Promise<void> {
    await this.#cloud.close({ interrupt: true });
    await rm(this.#dataDir, { recursive: true, force: true });
  }

  /** Publishes a workflow. Throws `PythonMissing`. */
  async publish({ workflow, definition, history }: Checked): Promise<WorkflowVersion> {
    const template = await this.#cloud.templateFor(workflow);
    return publishWorkflow(this.#cloud.ports, { workflow, stateMachine: definition, history, template });
  }

  /** Runs a test without effects. Throws `InputsRefused`. */
  async run({ version, input, outcomes, files }: TestStart): Promise<{ trace: ShownRun; blobs: Blobs }> {
    const { ports } = this.#cloud;
    const { id, home, start, document } = await valuesForRun(ports, files, { input, outcomes });
    await startExecution(ports, { ...start, id, version, outcomes: { document, sealed: true } });
    await this.#cloud.untilEnd(id);
    return { trace: asWritten(await readTrace(ports, id)), blobs: { load: (sha256) => ports.blobs.get(home, sha256) } };
  }

  /**
   * Evaluates expressions. Each result says why the expression is not true, `""` if there is no reason; null: it is
   * true.
   */
  async evaluate(expressions: readonly Expression[]): Promise<(string | null)[]> {
    this.#evaluating ??= this.#publishEvaluating();
    const input = { python: expressions.map(({ python }) => python), values: expressions.map(({ value }) => value) };
    const { trace } = await this.run({ version: await this.#evaluating, input, outcomes: {}, files: new Map() });
    const { results } = JSON.parse(trace.context.text) as { results?: (string | null)[] };
    return results ?? expressions.map(() => trace.execution.error?.message ?? "it was not evaluated");
  }

  async #publishEvaluating(): Promise<WorkflowVersion> {
    const compiled = await compileWorkflow({ text: evaluating, fileName: "workflow.json", files: {} });
    if (!compiled.workflow) throw new TypeError("the workflow that evaluates expressions has errors");
    return this.publish(compiled);
  }
}

/**
 * Shares this machine's known Python, installed packages and documentation index with the test cloud, because
 * installing them again takes longer than all tests.
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

/** The expressions run as a node's code, so that the sandbox isolates them. */
const evaluating = JSON.stringify({
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

/** The recorded outcome of a place that does not run. */
export interface RecordedOutcome {
  set: Readonly<Record<string, WholeValue>>;
  delete: readonly string[];
  decision: string | null;
  error?: { class: string; message: string };
}

interface TestValues {
  input: Readonly<Record<string, WholeValue>>;
  outcomes: Readonly<Record<string, RecordedOutcome>>;
}

interface ForRun {
  id: string;
  home: BlobHome;
  start: Pick<StartRequest, "context" | "files">;
  /** The document of outcomes; the blobs that it names are stored. */
  document: string;
}

/** Converts a test's values for an execution, and stores its bytes as blobs of that execution. */
export async function valuesForRun(
  { blobs }: Pick<Ports, "blobs">,
  files: TestFiles,
  { input, outcomes }: TestValues,
): Promise<ForRun> {
  const id = `exec_${ulid()}`;
  const home = { client: "default", root: id };
  const ofInput = new Marks(files);
  const context = textForRun(input, (sha256) => ofInput.markOf(sha256));
  const ofOutcomes = new Marks(files);
  const written = Object.entries(outcomes).map(([key, outcome]) => ({ key, json: outcomeText(outcome, ofOutcomes) }));
  for (const { sha256, bytes, open } of ofOutcomes.files)
    await blobs.put(home, { sha256, bytes, type: "bytes" }, open());
  return { id, home, start: { context, files: ofInput.files }, document: objectText(written) };
}

function outcomeText({ set, delete: deleted, decision, error }: RecordedOutcome, marks: Marks): string {
  const text = textForRun(set, (sha256) => marks.markOf(sha256));
  return objectText([
    ...(error
      ? [{ key: "error", json: JSON.stringify(error) }]
      : [{ key: "set", json: placeFiles(text, marks.files) }]),
    { key: "delete", json: JSON.stringify(deleted) },
    { key: "decision", json: JSON.stringify(decision) },
  ]);
}

/** Marks in a text that stand for bytes. */
class Marks {
  readonly #all: TestFiles;
  readonly #used = new Map<string, FileInPlace>();

  constructor(all: TestFiles) {
    this.#all = all;
  }

  get files(): FileInPlace[] {
    return Array.from(this.#used.values());
  }

  markOf(sha256: string): string {
    const known = this.#used.get(sha256);
    if (known) return known.mark;
    const content = this.#all.get(sha256);
    if (!content) throw new InvalidInput(`a test has lost the bytes ${sha256} - record it again`);
    const open = async function* () {
      yield content;
    };
    const file = { mark: newFileMark(), sha256, bytes: content.length, open };
    this.#used.set(sha256, file);
    return file.mark;
  }
}

/** The recorded outcomes of nodes that do not run. Throws `InvalidInput` for a form, which has no value. */
export function recordedOutcomes(
  { name, fixture }: Pick<Test, "name" | "fixture">,
  live: ReadonlySet<string>,
): Record<string, RecordedOutcome> {
  const outcomes: Record<string, RecordedOutcome> = {};
  for (const [place, { error, ...outcome }] of Object.entries(fixture.outcomes)) {
    if (live.has(nodeOfPlace(place))) continue;
    if (hasForm(outcome.set) || (error && hasForm(error.message)))
      throw new InvalidInput(
        `the test "${name}" uses the recorded outcome of "${place}", which has a form - write a value instead`,
      );
    outcomes[place] = { ...outcome, ...(error && { error: { class: error.class, message: String(error.message) } }) };
  }
  return outcomes;
}
