import { findNeededModules, listImportableModules } from "@nova/python";
import { type Finding, finding, type ParsedWorkflow, promisedPackages } from "@nova/workflow";
import { dataFolder } from "./cloud.ts";
import { type Asking, printError, styled, thisTerminal } from "./output/terminal.ts";

export const installCommand = "nova packages install";

/**
 * The main module of the package that installs a module, by the name of the installed module. For example, the package
 * pandas also installs numpy, so the key numpy has the value pandas.
 */
const providers = new Map(
  promisedPackages.flatMap(({ module, pip }) => {
    const around = new Set(listImportableModules([]));
    return listImportableModules([pip]).flatMap((each) => (around.has(each) ? [] : [[each, module] as const]));
  }),
);

/** Lists the packages of the template that this machine's Python lacks, by module name. */
export async function findMissingPackages(): Promise<string[]> {
  const { sandboxPython } = await import("@nova/local");
  try {
    return (await sandboxPython(dataFolder())).missing;
  } catch {
    return []; // Without Python there are no packages. The command that runs code reports that Python is missing.
  }
}

/** Returns the findings NOVA609. Each names an imported module that every sandbox contains but this machine lacks. */
export async function findNotInstalled({ workflow, python }: ParsedWorkflow): Promise<Finding[]> {
  if (!workflow) return [];
  const own = new Set(listImportableModules(workflow.requirements));
  const needed = python.flatMap((source) => {
    const modules = findNeededModules(source.code, (module) => providers.has(module) && !own.has(module));
    return modules.map((one) => ({ source, ...one }));
  });
  if (needed.length === 0) return [];
  const missing = new Set(await findMissingPackages());
  const lacking = needed.filter(({ module }) => missing.has(providers.get(module) ?? ""));
  return lacking.map(({ source: { node, file, path }, module, ...place }) => {
    const subject = node ? `node "${node.id}"` : `module "${file}"`;
    const message = `${subject}: line ${place.line}: "${module}" is in every sandbox, but not installed on this machine - ${installCommand} installs it`;
    return finding("NOVA609", path, message, { ...place, ...(file !== undefined && { file }) });
  });
}

/** Installs the missing packages of the template for this user only. Throws `PythonMissing`. */
export async function installPackages() {
  const { ensurePython, packagesFolder } = await import("@nova/local");
  printError(styled("dim", "installing NOVA's Python packages, which takes about a minute the first time ..."));
  const python = await ensurePython();
  return { folder: packagesFolder(python.version), python };
}

/**
 * Offers to install missing packages that the workflows import or that models may import. Returns the findings that
 * remain. Asks only in an interactive terminal.
 */
export async function offerPackages(parsed: readonly ParsedWorkflow[], asking = thisTerminal): Promise<Finding[]> {
  const findings = (await Promise.all(parsed.map(findNotInstalled))).flat();
  if (!asking.isInteractive || (findings.length === 0 && !parsed.some(hasPrompt))) return findings;
  const missing = await findMissingPackages();
  if (missing.length === 0 || !(await offer(missing, asking))) return findings;
  return (await Promise.all(parsed.map(findNotInstalled))).flat();
}

/**
 * Offers to install missing packages for a new workflow. Returns null if no package is missing any more. Otherwise
 * returns a sentence that says how to install the missing packages.
 */
export async function offerAll(asking = thisTerminal): Promise<string | null> {
  const missing = await findMissingPackages();
  if (missing.length === 0 || (asking.isInteractive && (await offer(missing, asking)))) return null;
  return `Nodes may import pandas, PyMuPDF, requests, Pillow and psycopg; ${installCommand} installs the missing ones (${missing.join(", ")}).`;
}

async function offer(missing: readonly string[], { ask }: Asking): Promise<boolean> {
  const packages = missing.length === 1 ? "package" : "packages";
  const question = `NOVA's Python ${packages} ${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} not installed here. Install now, only for you and separate from the system's Python?`;
  if (!(await ask(question))) return false;
  try {
    const { folder } = await installPackages();
    printError(`installed in ${folder}`);
    return true;
  } catch (error) {
    if (!(error instanceof Error) || error.name === "Interrupted") throw error;
    printError(`nova: ${error.message}`);
    return false;
  }
}

/**
 * Returns whether a workflow has a prompt node without locked code. A model may write code for this node that imports
 * any package of the template.
 */
function hasPrompt({ workflow }: ParsedWorkflow): boolean {
  const nodes = workflow?.nodes ?? [];
  return nodes.some((node) => "executor" in node && node.executor.kind === "prompt" && !workflow?.lock?.[node.id]);
}
