import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { templateNames } from "../src/names.ts";

const root = join(import.meta.dirname, "..");
export const dataFile = join(root, "src/templates.json");

/**
 * Reads the folders of all templates. Adds the common skill for agents, and a `.gitignore` for the local cloud's data.
 */
export function readTemplates(): Record<string, Record<string, string>> {
  const skill = readFileSync(join(root, "skill.md"), "utf8");
  const common = { ".agents/skills/nova/SKILL.md": skill, ".gitignore": ".nova/\n" };
  return Object.fromEntries(templateNames.map((name) => [name, { ...readTexts(join(root, name)), ...common }]));
}

function readTexts(folder: string): Record<string, string> {
  const paths = globSync("**/*.{json,py,md}", { cwd: folder }).sort();
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(folder, path), "utf8")]));
}

if (import.meta.main) writeFileSync(dataFile, `${JSON.stringify(readTemplates(), null, 2)}\n`);
