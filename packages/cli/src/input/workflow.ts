import { dirname, resolve } from "node:path";
import type { Compiled } from "@nova/compiler";
import { type Finding, isFileOfFolder, type ParsedWorkflow } from "@nova/workflow";

/** Reads and parses the workflow at a path. If it cannot be read, the only finding says so. */
export async function readAndParse(path: string): Promise<ParsedWorkflow> {
  const { parseWorkflow, readWorkflowSource, WorkflowSourceError } = await import("@nova/workflow");
  try {
    return parseWorkflow(await readWorkflowSource(path));
  } catch (error) {
    if (error instanceof WorkflowSourceError) return { findings: [error.finding], python: [], keyFindings: () => [] };
    throw error;
  }
}

export async function readAndCompile(path: string): Promise<Compiled> {
  const parsed = await readAndParse(path);
  const { compileParsed } = await import("@nova/compiler");
  return compileParsed(parsed);
}

/** Finds NOVA443, with the `DEFAULT_MODEL` of this process. */
export async function findUnpriced({ workflow }: Pick<ParsedWorkflow, "workflow">): Promise<Finding[]> {
  if (!workflow) return [];
  const { budgetsWithoutPrice } = await import("@nova/agents");
  return budgetsWithoutPrice(workflow, process.env.DEFAULT_MODEL);
}

/**
 * Finds folders whose workflows have the same id, because publishing one would replace the other. Maps each path to a
 * sentence.
 */
export function findSharedIds(made: readonly { path: string; id: string | undefined }[]): Map<string, string> {
  const problems = new Map<string, string>();
  for (const [id, all] of Map.groupBy(made, (one) => one.id)) {
    const folders = [...new Map(all.map(({ path }) => [workflowPath(path), `"${path}"`])).values()];
    if (id === undefined || folders.length < 2) continue;
    const list = new Intl.ListFormat("en-GB").format(folders);
    const make = folders.length === 2 ? "both make" : "all make";
    for (const { path } of all)
      problems.set(path, `folders ${list} ${make} the workflow "${id}" - give one of them another id`);
  }
  return problems;
}

/** The folder of a workflow, given as a folder or as its file. */
export function workflowPath(path: string): string {
  return resolve(isFileOfFolder(path) ? dirname(path) : path);
}
