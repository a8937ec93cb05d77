import { findNeededModules, listImportableModules } from "@nova/python";
import { type Finding, finding, type ParsedWorkflow, promisedPackages } from "@nova/workflow";
import { dataFolder } from "../cloud.ts";
import { printError, styled } from "../output/terminal.ts";

export const installCommand = "nova packages install";

/** Modules and the promised package that brings each: numpy comes with pandas. */
const providers = new Map(
  promisedPackages.flatMap(({ module, pip }) => {
    const around = new Set(listImportableModules([]));
    return listImportableModules([pip]).flatMap((each) => (around.has(each) ? [] : [[each, module] as const]));
  }),
);

/** Packages that every sandbox promises and the Python of this machine lacks, as code imports them. */
export async function missingHere(): Promise<string[]> {
  const { sandboxPython } = await import("@nova/local");
  try {
    return (await sandboxPython(dataFolder())).missing;
  } catch {
    return []; // there is no Python at all: whatever has to run code says so
  }
}

/** NOVA609: what the code imports, is there in every sandbox, and is not installed here. */
export async function notInstalled({ workflow, python }: ParsedWorkflow): Promise<Finding[]> {
  if (!workflow) return [];
  const own = new Set(listImportableModules(workflow.requirements));
  const needed = python.flatMap((source) => {
    const modules = findNeededModules(source.code, (module) => providers.has(module) && !own.has(module));
    return modules.map((one) => ({ source, ...one }));
  });
  if (needed.length === 0) return [];
  const missing = new Set(await missingHere());
  const lacking = needed.filter(({ module }) => missing.has(providers.get(module) ?? ""));
  return lacking.map(({ source: { node, file, path }, module, ...place }) => {
    const subject = node ? `node "${node.id}"` : `module "${file}"`;
    const message = `${subject}: line ${place.line}: "${module}" is in every sandbox, but not installed on this machine - ${installCommand} brings it`;
    return finding("NOVA609", path, message, { ...place, ...(file !== undefined && { file }) });
  });
}

/** Where they are, and for which Python. */
export interface Installed {
  folder: string;
  /** Path and version of the interpreter. */
  python: { path: string; version: string };
}

/** Installs what every sandbox promises and is missing here, for this user alone. Throws `PythonMissing`. */
export async function installPackages(): Promise<Installed> {
  const { ensurePython, packagesFolder } = await import("@nova/local");
  printError(styled("dim", "installing NOVA's Python packages, which takes about a minute the first time ..."));
  const { path, version } = await ensurePython();
  return { folder: packagesFolder(version), python: { path, version } };
}
