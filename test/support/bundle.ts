import { cpSync, readdirSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { besideBundle, bundling } from "../../stacks/engine/bundling.ts";
import { root } from "./imports.ts";

interface Output {
  imports: { path: string; kind: string }[];
  inputs: Record<string, unknown>;
}

/** Inputs of each entry that are read when it starts; what is imported later is not among them. */
export type ReadAtStart = Record<string, string[]>;

const esbuild = createRequire(createRequire(import.meta.url).resolve("sst/package.json"))("esbuild");

/** What SST's handler for Node puts in front of each file. */
const banner = [
  "import { createRequire as topLevelCreateRequire } from 'module';",
  "const require = topLevelCreateRequire(import.meta.url);",
  'import { fileURLToPath as topLevelFileUrlToPath, URL as topLevelURL } from "url"',
  'const __dirname = topLevelFileUrlToPath(new topLevelURL(".", import.meta.url))',
].join("\n");

/** Bundles handlers of functions/ side by side, with SST's esbuild and its options: one by one takes six times as long. */
export async function bundleHandlers(files: readonly string[], out: string): Promise<ReadAtStart> {
  const { esbuild: own, sourcemap, splitting, minify, format } = bundling;
  const { metafile } = await esbuild.build({
    ...own,
    ...{ sourcemap, splitting, minify, format, banner: { js: banner }, outExtension: { ".js": ".mjs" } },
    ...{ platform: "node", target: "esnext", mainFields: ["module", "main"], external: ["sharp", "pg-native"] },
    ...{ keepNames: true, bundle: true, metafile: true, logLevel: "silent", absWorkingDir: root },
    entryPoints: files.map((file) => `functions/${file}.ts`),
    outdir: join(out, "functions"),
  });
  for (const { from, to } of besideBundle) cpSync(join(root, from), join(out, to), { recursive: true });
  const outputs: Record<string, Output> = metafile.outputs;
  const entry = (file: string) => Object.keys(outputs).find((path) => path.endsWith(`functions/${file}.mjs`)) ?? "";
  return Object.fromEntries(files.map((file) => [file, inputsFrom(outputs, entry(file))]));
}

function inputsFrom(outputs: Record<string, Output>, entry: string): string[] {
  const reached = new Set([entry]);
  for (const path of reached) {
    for (const { path: next, kind } of outputs[path]?.imports ?? []) if (kind === "import-statement") reached.add(next);
  }
  return [...reached].flatMap((path) => Object.keys(outputs[path]?.inputs ?? {}));
}

/** Bytes of a folder's files, by what their names end with. */
export function bytesIn(folder: string, ending: string): number {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}
