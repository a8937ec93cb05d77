import { existsSync } from "node:fs";
import { join } from "node:path";
import { templateName } from "@nova/workflow";
import { choosePython } from "../e2b/python.ts";
import { docstringsFolder, indexDocstrings } from "./docstrings.ts";
import { packagesFolder, packagesFolders } from "./packages-folder.ts";
import { installRequirements } from "./python-packages.ts";

/** What a sandbox has that asks for nothing: the template that `nova template build` made, by the name it has there. */
function baseTemplate(): string {
  return process.env.E2B_TEMPLATE_ID ?? "nova";
}

/** A workflow's template: the base, or one that has its requirements as well. The same lines are the same template. */
export async function prepareTemplate(dataDir: string, requirements: readonly string[]): Promise<string> {
  if (requirements.length === 0) return baseTemplate();
  const template = templateName(requirements);
  const own = templateFolder(dataDir, template);
  const index = join(docstringsFolder(dataDir), `${template}.json`);
  if (existsSync(own) && existsSync(index)) return template;
  const python = await choosePython(undefined, packagesFolders());
  await installRequirements(python, requirements, own);
  await indexDocstrings(python, requirements, [own, packagesFolder(python.version)], index);
  return template;
}

/** Where the packages of a template lie. */
export function templateFolder(dataDir: string, template: string): string {
  return join(dataDir, "templates", template);
}
