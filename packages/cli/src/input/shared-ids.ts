import { dirname, resolve } from "node:path";
import { isFileOfFolder } from "@nova/workflow";

/** A sentence for each path whose workflow has the id of another folder's: publishing one would replace the other. */
export function sharedIds(made: readonly { path: string; id: string | undefined }[]): Map<string, string> {
  const problems = new Map<string, string>();
  for (const [id, all] of Map.groupBy(made, (one) => one.id)) {
    const folders = [...new Map(all.map(({ path }) => [placeOf(path), `"${path}"`])).values()];
    if (id === undefined || folders.length < 2) continue;
    const list = new Intl.ListFormat("en-GB").format(folders);
    const make = folders.length === 2 ? "both make" : "all make";
    for (const { path } of all)
      problems.set(path, `folders ${list} ${make} the workflow "${id}" - give one of them another id`);
  }
  return problems;
}

/** The same for a folder and the file that stands for it. */
export function placeOf(path: string): string {
  return resolve(isFileOfFolder(path) ? dirname(path) : path);
}
