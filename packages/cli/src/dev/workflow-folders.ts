import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isWorkflowFolder } from "@nova/workflow";
import { InvalidInput } from "../errors.ts";

/** Folders below a root that never hold what people write. */
export const passedOver = /^(\..*|node_modules|__pycache__)$/;

/** The workflow folders of a root: itself, or those in it. */
export async function workflowFoldersIn(root: string): Promise<string[]> {
  if (isWorkflowFolder(root)) return [root];
  const names = (await subfolders(root)).sort();
  return names.map((name) => join(root, name)).filter(isWorkflowFolder);
}

/** Throws `InvalidInput` for what is no folder. */
async function subfolders(root: string): Promise<string[]> {
  const entries = await readdir(root, { withFileTypes: true }).catch((cause) => {
    throw new InvalidInput(
      `"${root}" is no folder - name one with workflow.json or workflow.ts, or one with such folders`,
      { cause },
    );
  });
  return entries.filter((entry) => entry.isDirectory() && !passedOver.test(entry.name)).map(({ name }) => name);
}
