import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { type LambdaName, lambdas } from "../../stacks/stacks.ts";
import { type DeployedFunction, functionsOf } from "./functions.ts";
import { type Bundle, stacksOf } from "./stacks.ts";

/** The bundle of one deployed function in its own folder, with its environment variables. */
export interface DeployedBundle {
  folder: string;
  /** Path of the module with the handler. */
  file: string;
  variables: DeployedFunction["variables"];
  /**
   * Source files of the function. `atStart` has those that it loads at its start, and `ever` also those that it can
   * load later.
   */
  modules: { atStart: string[]; ever: string[] };
}

const made = new Map<LambdaName, Promise<DeployedBundle>>();

/** Bundles a function as it is deployed. All tests of a process share the bundle. */
export function deployedBundle(name: LambdaName): Promise<DeployedBundle> {
  const bundle = made.get(name) ?? make(name);
  made.set(name, bundle);
  return bundle;
}

async function make(name: LambdaName): Promise<DeployedBundle> {
  const { templates, bundle } = await stacksOf("production");
  const deployed = Object.values(templates).flatMap(functionsOf);
  const { variables = {} } = deployed.find((one) => one.name === name) ?? {};
  const { folder, outputs } = await bundle(name);
  const file = join(folder, `functions/${lambdas[name].file}.mjs`);
  const read = (kinds: readonly string[]) => sourcesFrom(outputs, `functions/${lambdas[name].file}.ts`, kinds);
  const modules = { atStart: read(["import-statement"]), ever: read(["import-statement", "dynamic-import"]) };
  return { folder, file, variables, modules };
}

function sourcesFrom(outputs: Bundle["outputs"], source: string, kinds: readonly string[]): string[] {
  const reached = new Set(Object.keys(outputs).filter((path) => outputs[path]?.entryPoint === source));
  for (const path of reached) {
    for (const { path: next, kind } of outputs[path]?.imports ?? []) if (kinds.includes(kind)) reached.add(next);
  }
  return [...reached].flatMap((path) => Object.keys(outputs[path]?.inputs ?? {}));
}

/**
 * Returns the names of the files in a bundle that contain no code, sorted. Leaves out the package.json that npm writes.
 */
export function carriedIn({ folder }: DeployedBundle): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => statSync(join(folder, name)).isFile());
  return files.filter((name) => !/\.mjs$|^package(-lock)?\.json$/.test(name)).toSorted();
}
