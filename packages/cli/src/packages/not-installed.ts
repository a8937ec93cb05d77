import { findNeededModules, listImportableModules } from "@nova/python";
import { type Finding, finding, type ParsedWorkflow, promisedPackages } from "@nova/workflow";
import { dataFolder } from "../cloud.ts";
import { printError, styled } from "../output/terminal.ts";

export const installCommand = "nova packages install";

/** Modules by the package of the template that provides them: numpy comes with pandas. */
const providers = new Map(
  promisedPackages.flatMap(({ module, pip }) => {
    const around = new Set(listImportableModules([]));
    return listImportableModules([pip]).flatMap((each) => (around.has(each) ? [] : [[each, module] as const]));
  }),
);

/** Packages of the template that this machine's Python lacks, by module name. */
export async function findMissingPackages(): Promise<string[]> {
  const { sandboxPython } = await import("@nova/local");
  try {
    return (await sandboxPython(dataFolder())).missing;
  } catch {
    return []; // without Python, the command that runs code reports it
  }
}

/** Finds NOVA609: an imported module that every sandbox has, but this machine does not. */
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

/** The folder of the packages and their Python. */
export interface Installed {
  folder: string;
  /** Path and version of the interpreter. */
  python: { path: string; version: string };
}

/** Installs the missing packages of the template for this user only. Throws `PythonMissing`. */
export async function installPackages(): Promise<Installed> {
  const { ensurePython, packagesFolder } = await import("@nova/local");
  printError(styled("dim", "installing NOVA's Python packages, which takes about a minute the first time ..."));
  const { path, version } = await ensurePython();
  return { folder: packagesFolder(version), python: { path, version } };
}
