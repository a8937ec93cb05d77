import { dirname, resolve } from "node:path";
import { isFileOfFolder } from "@nova/workflow";

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
