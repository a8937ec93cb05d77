import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { isWorkflowFolder } from "@nova/workflow";
import { passedOver } from "../dev/publisher.ts";
import { InvalidInput, InvalidWorkflow } from "../errors.ts";
import { placeOf } from "../input/shared-ids.ts";
import { readAndCompile, readAndParse } from "../input/workflow.ts";
import type { Checked } from "../run/request.ts";
import { readTest, type Test } from "./fixture.ts";

/** A workflow kept as files, and its tests. */
export interface TestFolder extends Checked {
  /** As it was typed. */
  path: string;
  folder: string;
  /** In the order of their names. */
  tests: Test[];
}

/** Throws `InvalidInput`, `InvalidWorkflow`. */
export async function readTestFolder(path: string): Promise<TestFolder> {
  const folder = folderOf(path);
  const compiled = await readAndCompile(folder);
  if (!compiled.workflow) throw new InvalidWorkflow(path, compiled.findings);
  const names = await testNames(folder);
  if (names.length === 0)
    throw new InvalidInput(`"${path}" has no tests - nova test add <execution> makes one from a run`);
  const { workflow, definition, history } = compiled;
  const tests = await Promise.all(names.map((name) => readTest(folder, name)));
  const stranger = tests.find(({ fixture }) => fixture.workflow !== workflow.id);
  if (stranger)
    throw new InvalidInput(
      `the test "${stranger.name}" is one of workflow "${stranger.fixture.workflow}" - move it there, or correct its "workflow"`,
    );
  return { path, folder, workflow, definition, history, tests };
}

/** The folder of a workflow, from its path or that of its definition. Throws `InvalidInput`. */
export function folderOf(path: string): string {
  const folder = placeOf(path);
  if (isWorkflowFolder(folder)) return folder;
  throw new InvalidInput(`"${path}" is no folder of a workflow - name one with workflow.json or workflow.ts`);
}

async function testNames(folder: string): Promise<string[]> {
  const files = await readdir(join(folder, "tests")).catch(() => []);
  return files
    .filter((file) => file.endsWith(".json"))
    .map((file) => file.slice(0, -".json".length))
    .sort();
}

/** Where the workflow of an execution lies: here, or in a folder below. Throws `InvalidInput`. */
export async function folderWith(workflow: string, asked: string | undefined): Promise<string> {
  if (asked !== undefined) {
    const folder = folderOf(asked);
    if ((await idOf(folder)) === workflow) return folder;
    throw new InvalidInput(`"${asked}" does not hold the workflow "${workflow}", which has run - name its folder`);
  }
  const found: string[] = [];
  for await (const folder of foldersBelow(".", maxDepth))
    if (mayHold(folder, workflow) && (await idOf(folder)) === workflow) found.push(folder);
  const [first, second] = found;
  if (first === undefined)
    throw new InvalidInput(`there is no folder of the workflow "${workflow}" here - name it with --folder`);
  if (second === undefined) return resolve(first);
  throw new InvalidInput(`the workflow "${workflow}" is in "${first}" and in "${second}" - name one with --folder`);
}

const maxDepth = 3;

async function* foldersBelow(folder: string, depth: number): AsyncGenerator<string> {
  if (isWorkflowFolder(folder)) return yield folder;
  if (depth === 0) return;
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries)
    if (entry.isDirectory() && !passedOver.test(entry.name)) yield* foldersBelow(join(folder, entry.name), depth - 1);
}

/** A program is run to know its id: that of a stranger's folder is not. */
function mayHold(folder: string, workflow: string): boolean {
  return existsSync(join(folder, "workflow.json")) || basename(resolve(folder)) === workflow || folder === ".";
}

async function idOf(folder: string): Promise<string | undefined> {
  return (await readAndParse(folder)).workflow?.id;
}
