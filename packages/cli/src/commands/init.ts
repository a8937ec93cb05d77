import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisedPackages, slugOf, templateName } from "@nova/workflow";
import { shellWord } from "@nova/workflow/shell-word";
import { dataFolder } from "../cloud.ts";
import { exitCodes, InvalidInput } from "../errors.ts";
import { inNewFolder } from "../files.ts";
import { readAndCompile } from "../input/workflow.ts";
import { print, printError, styled } from "../output/terminal.ts";
import { tableLines } from "../output/text.ts";
import { installCommand, installPackages, offerAll } from "../packages.ts";
import { actionOf, command } from "./command.ts";

const starter = fileURLToPath(new URL("../../starter", import.meta.url));
const programStarter = fileURLToPath(new URL("../../starter-typescript", import.meta.url));
const programSettings = fileURLToPath(import.meta.resolve("@nova/workflow/tsconfig.program.json"));

export const init = command({
  summary: "make a small workflow that runs, to start from",
  takes: {
    "[folder]": { says: "where to make it", absent: "hello" },
    "--typescript": "write the graph as a program, workflow.ts, which editors check",
  },
  json: false,

  async run([folder = "hello"], { typescript }) {
    const graph = typescript ? "workflow.ts" : "workflow.json";
    await inNewFolder(folder, { wayOut: "name a new folder" }, async () => {
      await cp(starter, folder, { recursive: true, filter: (path) => !/__pycache__|\.nova/.test(path) });
      if (typescript) await useProgram(folder);
      await nameAfter(folder, graph);
    });
    print(`${folder} has a workflow: ${graph} is its graph, nodes/ its Python. Run it:`);
    print(styled("bold", `  nova run ${shellWord(folder)} --set name='"Ada"'`));
    const sentence = await offerAll();
    if (sentence !== null) print(styled("dim", sentence));
    return undefined;
  },
});

async function nameAfter(folder: string, graph: string): Promise<void> {
  const [name, file] = [basename(resolve(folder)), join(folder, graph)];
  const id = slugOf(name);
  if (id === "") return;
  const text = await readFile(file, "utf8");
  const renamed = text.replace(/(?<=\bid"?: )"hello"/, () => JSON.stringify(id));
  await writeFile(
    file,
    renamed.replace('"Hello"', () => JSON.stringify(name)),
  );
}

/**
 * Replaces the definition in a folder by a program that builds the same workflow. Also writes the settings with which
 * editors find the types.
 */
async function useProgram(folder: string): Promise<void> {
  await rm(join(folder, "workflow.json"));
  await cp(programStarter, folder, { recursive: true });
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
    // Stores the index of the docstrings that the template contains. Functions that are deployed with this folder read
    // the index from it.
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
