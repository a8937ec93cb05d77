import { readdir, readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type ContextShape, importableModules, type NodeFacts, shapeOf } from "@nova/python";
import { isWorkflowFolder, readWorkflowSource, templatePackages } from "@nova/workflow";
import { InvalidInput } from "../errors.ts";
import { readJsonFile } from "./context.ts";

/** Folders above a node's code in which its workflow may lie: `nodes/read/mail.py`. */
const maxLevels = 3;

export async function readCode(file: string): Promise<string> {
  const bytes = await readFile(file).catch((cause) => {
    throw new InvalidInput(`there is no readable file "${file}" - name the Python of a node`, { cause });
  });
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new InvalidInput(`"${file}" is not UTF-8 text - save it as UTF-8`, { cause });
  }
}

/** The shape of the JSON object in a file. */
export async function readShape(file: string): Promise<ContextShape> {
  const value: unknown = JSON.parse(await readJsonFile(file, "context"));
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new InvalidInput(`context file "${file}" holds no JSON object - write {"key": value}`);
  }
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shapeOf(member)]));
}

/** What the code may import: what every sandbox has, and what the workflow around the file adds. */
export async function importableFrom(file: string): Promise<Pick<NodeFacts, "modules" | "lib">> {
  let folder = dirname(resolve(file));
  for (let level = 0; level < maxLevels; level++) {
    const names = await readdir(folder).catch(() => [] as string[]);
    if (isWorkflowFolder(folder)) {
      const requirements = requirementsIn(
        names.includes("workflow.json")
          ? await readJsonFile(join(folder, "workflow.json"), "workflow")
          : (await readWorkflowSource(folder)).text,
      );
      const lib = await readdir(join(folder, "lib")).catch(() => [] as string[]);
      return { modules: importableModules([...templatePackages, ...requirements]), lib };
    }
    folder = dirname(folder);
  }
  return { modules: importableModules(templatePackages) };
}

function requirementsIn(text: string): string[] {
  const requirements = (JSON.parse(text) as { requirements?: unknown } | null)?.requirements;
  return Array.isArray(requirements) ? requirements.map(String) : [];
}
