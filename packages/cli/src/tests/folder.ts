import { readdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { isFileOfFolder, isWorkflowFolder } from "@nova/workflow";
import { InvalidInput, InvalidWorkflow } from "../errors.ts";
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
  const folder = isFileOfFolder(path) ? dirname(resolve(path)) : resolve(path);
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
  const below = (await readdir(".", { withFileTypes: true })).filter((entry) => entry.isDirectory());
  // A folder is mostly named as its workflow.
  const names = below.map(({ name }) => name).sort((a, b) => Number(b === workflow) - Number(a === workflow));
  for (const place of [".", ...names])
    if (isWorkflowFolder(place) && (await idOf(place)) === workflow) return resolve(place);
  throw new InvalidInput(`there is no folder of the workflow "${workflow}" here - name it with --folder`);
}

async function idOf(folder: string): Promise<string | undefined> {
  return (await readAndParse(folder)).workflow?.id;
}
