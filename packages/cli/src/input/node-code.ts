import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type ContextShape, listImportableModules, type NodeFacts, shapeOf } from "@nova/python";
import { isWorkflowFolder, readWorkflowSource, templatePackages } from "@nova/workflow";
import { throwInvalid } from "../errors.ts";
import { readJsonFile, readObjectFile, utf8 } from "./context.ts";

/** How many folders above a node's code may hold its workflow: `nodes/read/mail.py`. */
const maxLevels = 3;

export async function readCode(file: string): Promise<string> {
  const bytes = await readFile(file).catch(
    throwInvalid(`there is no readable file "${file}" - name the Python of a node`),
  );
  return utf8(bytes, `"${file}" is not UTF-8 text - save it as UTF-8`);
}

/** Reads the shape of the JSON object in a file. */
export async function readShape(file: string): Promise<ContextShape> {
  const value: object = JSON.parse(await readObjectFile(file));
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shapeOf(member)]));
}

/** Lists the modules that the code can import: those of every sandbox, and those of the workflow around the file. */
export async function readImportable(file: string): Promise<Pick<NodeFacts, "modules" | "lib">> {
  let folder = dirname(resolve(file));
  for (let level = 0; level < maxLevels; level++) {
    if (isWorkflowFolder(folder)) {
      const file = join(folder, "workflow.json");
      const text = existsSync(file) ? await readJsonFile(file, "workflow") : (await readWorkflowSource(folder)).text;
      const lib = await readdir(join(folder, "lib")).catch(() => [] as string[]);
      const { requirements } = (JSON.parse(text) ?? {}) as { requirements?: unknown };
      const own = Array.isArray(requirements) ? requirements.map(String) : [];
      return { modules: listImportableModules([...templatePackages, ...own]), lib };
    }
    folder = dirname(folder);
  }
  return { modules: listImportableModules(templatePackages) };
}
