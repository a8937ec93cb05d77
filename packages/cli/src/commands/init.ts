import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { fillTemplate, templateNames, templates } from "@nova/templates";
import { promisedPackages, slugOf, templateName } from "@nova/workflow";
import { shellWord } from "@nova/workflow/shell-word";
import { dataFolder } from "../cloud.ts";
import { exitCodes, InvalidInput } from "../errors.ts";
import { inNewFolder, writeInside } from "../files.ts";
import { readAndCompile } from "../input/workflow.ts";
import { print, printError, styled } from "../output/terminal.ts";
import { tableLines } from "../output/text.ts";
import { installCommand, installPackages, offerAll } from "../packages.ts";
import { actionOf, command } from "./command.ts";

const programStarter = fileURLToPath(new URL("../../starter-typescript", import.meta.url));
const programSettings = fileURLToPath(import.meta.resolve("@nova/workflow/tsconfig.program.json"));

export const init = command({
  summary: "make a workflow that runs, to start from",
  takes: {
    "[folder]": { says: "where to make it; absent: the name of the template" },
    "--template <name>": { says: "what to start from", absent: "hello", choices: templateNames },
    "--typescript": "write the graph of the template hello as a program, workflow.ts, which editors check",
  },
  json: false,

  async run([path], { template, typescript }) {
    if (typescript && template !== "hello")
      throw new InvalidInput("--typescript has only the template hello - leave out one of the two options");
    const folder = path ?? template;
    const name = basename(resolve(folder));
    const id = slugOf(name) || template;
    const files = fillTemplate(templates[template], {
      id,
      name: path === undefined ? templates[template].title : name,
    });
    await inNewFolder(folder, { wayOut: "name a new folder" }, async () => {
      for (const [file, text] of Object.entries(files)) await writeInside(folder, file, text, { replaces: false });
      if (typescript) await useProgram(folder, { id, name });
    });
    const graph = typescript ? "workflow.ts" : "workflow.json";
    print(`${folder} has a workflow: ${graph} is its graph, AGENTS.md says how to run and change it. Run it:`);
    print(styled("bold", `  nova run ${shellWord(folder)} --context ${shellWord(join(folder, "input.json"))}`));
    const sentence = await offerAll();
    if (sentence !== null) print(styled("dim", sentence));
    return undefined;
  },
});

/**
 * Replaces the definition in a folder by a program that builds the same workflow. Also writes the settings with which
 * editors find the types.
 */
async function useProgram(folder: string, { id, name }: { id: string; name: string }): Promise<void> {
  await rm(join(folder, "workflow.json"));
  await cp(programStarter, folder, { recursive: true });
  const file = join(folder, "workflow.ts");
  const text = await readFile(file, "utf8");
  const renamed = text.replace('"hello"', () => JSON.stringify(id)).replace('"Hello"', () => JSON.stringify(name));
  await writeFile(file, renamed);
  const settings = { extends: programSettings, include: ["**/*.ts"] };
  await writeFile(join(folder, "tsconfig.json"), `${JSON.stringify(settings, null, 2)}\n`);
}

export const packages = command({
  summary: "install the Python packages of every sandbox, for runs on this machine",
  takes: {
    "[list|install]": {
      says: "install does not ask, and does not change the system's Python",
      absent: "list",
    },
  },
  async run([asked]) {
    if (actionOf("packages", ["list", "install"], asked) === "install") {
      const { folder, python } = await installPackages();
      const json = { python: python.path, version: python.version, folder, missing: [] };
      return { json, text: `all packages are installed for ${python.path} (Python ${python.version})` };
    }
    const { packagesFolder, sandboxPython } = await import("@nova/local");
    const { path, version, missing } = await sandboxPython(dataFolder());
    const stateOf = (module: string) => (missing.includes(module) ? "missing" : "installed");
    const rows = promisedPackages.map(({ module, pip }) => [pip, module, stateOf(module)]);
    const lines = tableLines(["package", "import", `Python ${version}`], rows);
    return {
      json: { python: path, version, folder: packagesFolder(version), missing },
      text: missing.length > 0 ? [...lines, `${installCommand} installs the missing ones`] : lines,
    };
  },
});

export const template = command({
  summary: "build the E2B template for sandboxes (needs E2B_API_KEY)",
  takes: {
    "<build>": { says: 'the word "build"', choices: ["build"] },
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
    // Stores the index of the docstrings that the template contains. Functions that an operator deploys with this
    // folder read the index.
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
