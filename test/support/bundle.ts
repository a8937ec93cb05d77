import { readdirSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { bundling } from "../../stacks/lambda.ts";
import { root } from "./imports.ts";

const esbuild = createRequire(createRequire(import.meta.url).resolve("sst/package.json"))("esbuild");

/** SST puts these lines at the top of each bundle for Node. */
const banner = [
  "import { createRequire as topLevelCreateRequire } from 'module';",
  "const require = topLevelCreateRequire(import.meta.url);",
  'import { fileURLToPath as topLevelFileUrlToPath, URL as topLevelURL } from "url"',
  'const __dirname = topLevelFileUrlToPath(new topLevelURL(".", import.meta.url))',
].join("\n");

/** Bundles these files of functions/ into one folder, with SST's esbuild and its options. */
export async function bundleHandlers(files: readonly string[], out: string): Promise<void> {
  const { esbuild: own, sourcemap, splitting, minify, format } = bundling;
  await esbuild.build({
    ...own,
    sourcemap,
    splitting,
    minify,
    format,
    banner: { js: banner },
    outExtension: { ".js": ".mjs" },
    platform: "node",
    target: "esnext",
    mainFields: ["module", "main"],
    external: ["sharp", "pg-native"],
    keepNames: true,
    bundle: true,
    metafile: true,
    logLevel: "silent",
    absWorkingDir: root,
    entryPoints: files.map((file) => `functions/${file}.ts`),
    outdir: join(out, "functions"),
  });
}

/** Returns the total size in bytes of the files in a folder whose names end with `ending`. */
export function bytesIn(folder: string, ending: string): number {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}
