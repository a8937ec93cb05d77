import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { templateName } from "@nova/workflow";
import { dataFolder } from "../cloud.ts";
import { exitCodes, InvalidInput } from "../errors.ts";
import { readAndCompile } from "../input/workflow.ts";
import { printError, styled } from "../output/terminal.ts";
import { actionOf, command } from "./command.ts";

export const template = command({
  summary: "build the E2B template for sandboxes (needs E2B_API_KEY)",
  takes: {
    "<build>": 'the word "build"',
    "[folder|file]": "a workflow whose requirements the template gets",
    "--name <name>": "its name in your E2B account; absent: nova, or the name that the workflow uses",
    "--missing": "build nothing if the template exists, or the workflow has no requirements",
  },
  async run([asked, path], { name: wantedName, missing }) {
    actionOf("template", ["build"], asked);
    const requirements = path === undefined ? [] : await requirementsOf(path);
    if (missing && requirements.length === 0) return exitCodes.completed;
    if (!process.env.E2B_API_KEY) {
      throw new InvalidInput("nova template build needs an E2B account - set E2B_API_KEY to its key");
    }
    const { buildTemplate, readDocstrings, templateExists } = await import("@nova/sandbox");
    const name = wantedName ?? (requirements.length === 0 ? "nova" : templateName(requirements));
    if (missing && (await templateExists(name))) return exitCodes.completed;
    const onLog = (line: string) => printError(styled("dim", line));
    const { templateId, name: built } = await buildTemplate({ name, requirements, onLog });
    // A deployed function that contains this folder finds the index of a workflow's template here.
    const docstrings = join(dataFolder(), "docstrings", `${templateId}.json`);
    await mkdir(dirname(docstrings), { recursive: true });
    await writeFile(docstrings, await readDocstrings(templateId));
    onLog(`prompt nodes read its packages from ${docstrings}; NOVA_DOCSTRINGS names the folder`);
    return { json: { template_id: templateId, name: built, docstrings }, text: `E2B_TEMPLATE_ID=${templateId}` };
  },
});

async function requirementsOf(path: string): Promise<string[]> {
  const { workflow, findings } = await readAndCompile(path);
  if (workflow) return workflow.requirements;
  throw new InvalidInput(`${path} has errors, the first: ${findings[0]?.message} - nova validate lists them all`);
}
