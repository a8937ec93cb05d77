import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import type { NovaClient } from "@nova/client";
import { parseExact } from "@nova/engine";
import { nodeIndex } from "@nova/workflow";
import { askApi } from "../api/ask.ts";
import { readBlob, readTrace, readWorkflow, type ShownTrace } from "../api/recorded.ts";
import { InvalidInput } from "../errors.ts";
import type { Told } from "../output/terminal.ts";
import type { Fixture, Test, TestFiles } from "./fixture.ts";
import { folderWith } from "./folder.ts";
import type { Repetition } from "./repeat-test.ts";
import { codeOf, expectationOf, outcomeOf, shortHash, stepsOf, wholeMembers } from "./steps.ts";
import type { Blobs } from "./values.ts";
import { writeTest } from "./write-test.ts";

interface Asked {
  execution: string;
  name: string | undefined;
  /** Of the workflow; absent: the one here. */
  folder: string | undefined;
  /** Any value fits where a repetition gave another one; a test of this name is replaced. */
  loosen: boolean;
}

/** Writes what an execution came to as a test of its workflow. Throws `InvalidInput`. */
export async function addTest({ execution: id, loosen, ...asked }: Asked): Promise<Told> {
  const name = asked.name ?? id.slice(-6).toLowerCase();
  demandName(name);
  return askApi(async (nova) => {
    const trace = await readTrace(nova, id, { full: true });
    demandWhole(trace);
    const folder = await folderWith(trace.execution.workflowId, asked.folder);
    if (!loosen && existsSync(join(folder, "tests", `${name}.json`)))
      throw new InvalidInput(
        `the test "${name}" is there already - choose another --name, or remove tests/${name}.json`,
      );
    const test = await testOf(nova, trace, name);
    const path = await writeTest(folder, test, { replaces: loosen });
    const repeated = await repetitionOf(folder, test);
    if (loosen && repeated.varying.some(({ canLoosen }) => canLoosen))
      await writeTest(folder, repeated.loosened, { replaces: true });
    const file = join(relative(".", folder), path);
    const { workflow, outcomes } = test.fixture;
    const varies = repeated.varying.map(({ place, key, canLoosen }) => ({ node: place, key, can_loosen: canLoosen }));
    const isLoosened = loosen && varies.some((one) => one.can_loosen);
    return {
      json: {
        ...{ name, file, workflow, execution_id: id, outcomes: Object.keys(outcomes), varies },
        ...{ loosened: isLoosened, note: repeated.note },
      },
      text: [`${file} is a test of ${workflow} now, from ${id}`, ...notesOf(repeated, { id, name, loosen })],
    };
  });
}

type Repeated = Pick<Repetition, "varying" | "loosened"> & { note: string | null };

/** Runs the new test twice. A folder that cannot be run keeps its test, and the note says why it was not tried. */
async function repetitionOf(path: string, test: Test): Promise<Repeated> {
  const untried = (why: string) => ({ varying: [], loosened: test, note: `the test was not tried: ${why}` });
  const [{ readTestFolder }, { changedNodes, repeatTest }] = await Promise.all([
    import("./folder.ts"),
    import("./repeat-test.ts"),
  ]);
  try {
    const folder = await readTestFolder(path);
    const [changed] = changedNodes(test.fixture, folder);
    if (changed !== undefined) return untried(`node "${changed}" has other code in the folder than in the execution`);
    const { varying, loosened, remaining } = await repeatTest(folder, test);
    return { varying, loosened, note: remaining && `a repetition took another way: ${remaining.message}` };
  } catch (error) {
    return untried(error instanceof Error ? error.message : String(error));
  }
}

function notesOf({ varying, note }: Repeated, { id, name, loosen }: { id: string; name: string; loosen: boolean }) {
  const command = `nova test add ${id} --name ${name} --loosen`;
  const loose = loosen
    ? "any value fits there now"
    : `the test will fail - make the code repeatable, or allow any value there: ${command}`;
  const listed = (canLoosen: boolean, advice: string) => {
    const keys = varying.filter((one) => one.canLoosen === canLoosen);
    const lines = keys.map(({ place, key }) => `  ${place ?? "the context at the end"}: ${key}`);
    return keys.length > 0 ? [`it ran twice, and these values differ from run to run; ${advice}`, ...lines] : [];
  };
  return [
    ...listed(true, loose),
    ...listed(
      false,
      "the test will fail, since no form allows what is there in some runs only, or another error - make the code repeatable",
    ),
    ...(note === null ? [] : [note]),
  ];
}

function demandName(name: string): void {
  if (/^[A-Za-z0-9][\w.-]{0,63}$/.test(name)) return;
  throw new InvalidInput(
    `"${name}" is no name of a test - write letters, digits, dots, hyphens and underscores, 64 at most, and no path`,
  );
}

function demandWhole({ execution, entries }: ShownTrace): void {
  const { id, status } = execution;
  if (execution.open) throw new InvalidInput(`execution ${id} is open - wait for its end, or cancel it`);
  if (entries.some(({ output_result }) => output_result === null))
    throw new InvalidInput(`the contents of execution ${id} were erased - record another one`);
  if (status !== "completed" && status !== "failed")
    throw new InvalidInput(`execution ${id} was ${status} - record one that was completed, or failed`);
}

async function testOf(nova: NovaClient, trace: ShownTrace, name: string): Promise<Test> {
  const { id, workflowId, version } = trace.execution;
  const workflow = await readWorkflow(nova, workflowId, version);
  const wanted = new Set<string>();
  const blobs: Blobs = {
    load: (sha256) => readBlob(nova, id, sha256),
    onBytes: ({ sha256 }) => void wanted.add(sha256),
  };
  const outcomes: Fixture["outcomes"] = {};
  const { code, prompts } = codeOf(workflow);
  for (const { place, entry } of stepsOf(trace).steps) {
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
