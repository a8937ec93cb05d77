import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { isWorkflowFolder } from "@nova/workflow";
import { ignoredFolders } from "../dev/publisher.ts";
import { InvalidInput, InvalidWorkflow } from "../errors.ts";
import { readAndCompile, readAndParse, workflowPath } from "../input/workflow.ts";
import type { Checked } from "../run/request.ts";
import { readTest, type Test } from "./fixture.ts";

/** A workflow folder with its tests. */
export interface TestFolder extends Checked {
  /** The path as the user typed it. */
  path: string;
  folder: string;
  /** In the order of their names. */
  tests: Test[];
}

/** Reads a workflow folder with its tests. Throws `InvalidInput`, `InvalidWorkflow`. */
export async function readTestFolder(path: string): Promise<TestFolder> {
  const folder = workflowFolderOf(path);
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
      `the test "${stranger.name}" belongs to workflow "${stranger.fixture.workflow}" - move it there, or correct its "workflow"`,
    );
  return { path, folder, workflow, definition, history, tests };
}

/** The folder of a workflow, from its path or the path of its definition. Throws `InvalidInput`. */
export function workflowFolderOf(path: string): string {
  const folder = workflowPath(path);
  if (isWorkflowFolder(folder)) return folder;
  throw new InvalidInput(`"${path}" is not a workflow folder - name one with workflow.json or workflow.ts`);
}

async function testNames(folder: string): Promise<string[]> {
  const files = await readdir(join(folder, "tests")).catch(() => []);
  return files
    .filter((file) => file.endsWith(".json"))
    .map((file) => file.slice(0, -".json".length))
    .sort();
}

/** Finds the folder of a workflow: the current one, or one below it. Throws `InvalidInput`. */
export async function findWorkflowFolder(workflow: string, asked: string | undefined): Promise<string> {
  if (asked !== undefined) {
    const folder = workflowFolderOf(asked);
    if ((await idOf(folder)) === workflow) return folder;
    throw new InvalidInput(`"${asked}" does not have the workflow "${workflow}" of the execution - name its folder`);
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
    if (entry.isDirectory() && !ignoredFolders.test(entry.name))
      yield* foldersBelow(join(folder, entry.name), depth - 1);
}

/**
 * Only a folder with the name of the workflow may hold it as a program, because reading the id of a program runs it.
 */
function mayHold(folder: string, workflow: string): boolean {
  return existsSync(join(folder, "workflow.json")) || basename(resolve(folder)) === workflow || folder === ".";
}

async function idOf(folder: string): Promise<string | undefined> {
  return (await readAndParse(folder)).workflow?.id;
}
