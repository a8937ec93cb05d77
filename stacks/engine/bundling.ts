import { cp, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { carried as shelf } from "@nova/agents/carried";
import { carried as ruff } from "@nova/python/carried";
import { carried as harness } from "@nova/sandbox/carried";
import type { BundlingOptions } from "../sst.ts";

type Plugin = NonNullable<NonNullable<BundlingOptions["esbuild"]>["plugins"]>[number];

/** SST's esbuild (0.18) knows `assert` but not `with`, which Node requires. Bundled JSON needs neither. */
const importAttributes: Plugin = {
  name: "import-attributes",
  setup(build) {
    build.onLoad({ filter: /packages[\\/].*\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      const contents = source.replaceAll(/^(import .*) with \{ type: "json" \};$/gm, "$1;");
      return { contents, loader: "ts" };
    });
  },
};

/** Parts of libraries that no function needs, although a bundler cannot tell. */
const unused = [
  /zod[\\/]v4[\\/]locales[\\/]index\.js$/, // messages in fifty languages
  /zod[\\/]v3[\\/]index\.js$/, // schemas of Zod 3, which OpenAI's SDK takes as well
  /dockerfile-ast[\\/]lib[\\/]main\.js$/, // reads Dockerfiles, which E2B's SDK makes templates of
  /bowser[\\/]bowser\.mjs$/, // names the browser that AWS's SDK runs in
];

/**
 * Replaces these parts by empty modules, which makes a bundle a tenth smaller. A new user of one must remove it from
 * the list.
 */
const leaveOut: Plugin = {
  name: "leave-out",
  setup(build) {
    for (const filter of unused) build.onLoad({ filter }, () => ({ contents: "", loader: "js" }));
  },
};

interface CarriedFiles {
  /** The module that reads the files at run time. */
  readBy: string;
  /** Path of the files in this project. */
  from: string;
  /** Path that the module reads, relative to the folder of the bundle. */
  to: string;
}

/** Files that modules expect beside themselves (`import.meta.url`, `__dirname`), and so beside the bundle. */
const carried: readonly CarriedFiles[] = [
  inPackage("packages/sandbox", harness),
  inPackage("packages/agents", shelf),
  inPackage("packages/python", ruff, "node_modules"),
];

/** Adds the path of a package, which only the stacks know, to the files that it lists. */
function inPackage(folder: string, { readBy, from, to }: CarriedFiles, files = folder): CarriedFiles {
  return { readBy: `${folder}/${readBy}`, from: `${files}/${from}`, to };
}

/** Leaves out the caches of Python on the deploying machine. */
const filter = (path: string) => basename(path) !== "__pycache__";

/** Copies the files into each bundle that contains the module, and into no other. */
const carryFiles: Plugin = {
  name: "carry-files",
  setup(build) {
    const { outdir = "", absWorkingDir = process.cwd() } = build.initialOptions;
    build.onEnd(async ({ metafile }) => {
      const modules = new Set(Object.values(metafile?.outputs ?? {}).flatMap(({ inputs }) => Object.keys(inputs)));
      const needed = carried.filter(({ readBy }) => modules.has(readBy));
      for (const { from, to } of needed) {
        await cp(join(absWorkingDir, from), join(outdir, to), { recursive: true, filter });
      }
    });
  },
};

/** The settings of the bundler. Bundles are split, so that dynamic imports are not read when a Lambda starts. */
export const bundling = {
  format: "esm",
  splitting: true,
  minify: true,
  sourcemap: false,
  esbuild: { plugins: [importAttributes, leaveOut, carryFiles] },
} satisfies BundlingOptions;
