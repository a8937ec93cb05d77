import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { templateName } from "@nova/workflow";
import { dataFolder } from "../cloud.ts";
import { exitCodes, InvalidInput } from "../errors.ts";
import { readAndCompile } from "../input/workflow.ts";
import { print, printError, styled } from "../output/terminal.ts";
import type { CliCommand } from "./command.ts";

export const template: CliCommand = {
  declare: (command) =>
    command
      .summary("build the E2B template that nodes run in (needs E2B_API_KEY)")
      .argument("<build>", 'the word "build"')
      .argument("[folder|file]", "a workflow whose requirements go into it")
      .option("--name <name>", "its name in your E2B account; else nova, or the one by which the workflow looks for it")
      .option("--missing", "build nothing where it is there, or the workflow has no requirements")
      .option("--json", "print one JSON object"),

  async run([action = "", path], { name: named, missing, json }) {
    if (action !== "build") throw new InvalidInput(`nova template cannot "${action}" - it can build`);
    const requirements = path === undefined ? [] : await requirementsOf(path);
    if (missing && requirements.length === 0) return exitCodes.completed;
    if (!process.env.E2B_API_KEY) {
      throw new InvalidInput("nova template build needs an E2B account - set E2B_API_KEY to its key");
    }
    const { buildTemplate, readDocstrings, templateExists } = await import("@nova/sandbox");
    const name = String(named ?? (requirements.length === 0 ? "nova" : templateName(requirements)));
    if (missing && (await templateExists(name))) return exitCodes.completed;
    const { templateId, name: built } = await buildTemplate({
      name,
      requirements,
      onLog: (line) => printError(styled("dim", line)),
    });
    const docstrings = await keepDocstrings(templateId, await readDocstrings(templateId));
    printError(styled("dim", `prompt nodes look up its packages in ${docstrings}; NOVA_DOCSTRINGS names the folder`));
    const answer = { template_id: templateId, name: built, docstrings };
    print(json ? JSON.stringify(answer) : `E2B_TEMPLATE_ID=${templateId}`, json);
    return exitCodes.completed;
  },
};

/** Where a function is deployed with the folder, it finds the index of the template that a workflow runs in. */
async function keepDocstrings(template: string, index: string): Promise<string> {
  const folder = join(dataFolder(), "docstrings");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${template}.json`), index);
  return join(folder, `${template}.json`);
}

async function requirementsOf(path: string): Promise<string[]> {
  const { workflow, findings } = await readAndCompile(path);
  if (workflow) return workflow.requirements;
  throw new InvalidInput(`${path} has errors, the first: ${findings[0]?.message} - nova validate lists them all`);
}
