import { createHash } from "node:crypto";
import { join } from "node:path";
import { choosePython } from "../e2b/python.ts";
import { installRequirements, sitePackages } from "./python-packages.ts";

/** What a sandbox has that asks for nothing: the template that `nova template build` made, by the name it has there. */
function baseTemplate(): string {
  return process.env.E2B_TEMPLATE_ID ?? "nova";
}

/** A workflow's template: the base, or one that has its requirements as well. The same lines are the same template. */
export async function prepareTemplate(dataDir: string, requirements: readonly string[]): Promise<string> {
  if (requirements.length === 0) return baseTemplate();
  const template = templateOf(requirements);
  const python = await choosePython(undefined, [sitePackages(dataDir)]);
  await installRequirements(python, requirements, templateFolder(dataDir, template));
  return template;
}

export function templateOf(requirements: readonly string[]): string {
  const lines = requirements.map((line) => line.trim()).sort();
  return `nova-${createHash("sha256").update(lines.join("\n")).digest("hex").slice(0, 12)}`;
}

/** Where the packages of a template lie. */
export function templateFolder(dataDir: string, template: string): string {
  return join(dataDir, "templates", template);
}
