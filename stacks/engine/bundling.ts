import { cp, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { carried as shelf } from "@nova/agents/carried";
import { carried as ruff } from "@nova/python/carried";
import { carried as harness } from "@nova/sandbox/carried";
import type { NodeJSProps } from "sst/constructs";

type Plugin = NonNullable<NonNullable<NodeJSProps["esbuild"]>["plugins"]>[number];

/** SST's esbuild (0.18) knows `assert` but not `with`, which Node asks for; bundled JSON needs neither. */
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

/** Parts of libraries that nothing in a function asks for, and that no bundler can tell are not needed. */
const unused = [
  /zod[\\/]v4[\\/]locales[\\/]index\.js$/, // messages in fifty languages
  /zod[\\/]v3[\\/]index\.js$/, // schemas of Zod 3, which OpenAI's SDK takes as well
  /dockerfile-ast[\\/]lib[\\/]main\.js$/, // reads Dockerfiles, which E2B's SDK makes templates of
  /bowser[\\/]bowser\.mjs$/, // names the browser that AWS's SDK runs in
];

/** Without them a bundle is a tenth smaller. Whoever begins to use one finds it undefined: take it off the list. */
const leaveOut: Plugin = {
  name: "leave-out",
  setup(build) {
    for (const filter of unused) build.onLoad({ filter }, () => ({ contents: "", loader: "js" }));
  },
};

interface CarriedFiles {
  /** The module that reads them when it runs. */
  readBy: string;
  /** Where they are in this project. */
  from: string;
  /** Where that module looks for them, from the folder of the bundle on. */
  to: string;
}

/** What modules look for beside themselves (`import.meta.url`, `__dirname`), which is beside the bundle when deployed. */
const carried: readonly CarriedFiles[] = [
  inside("packages/sandbox", harness),
  inside("packages/agents", shelf),
  inside("packages/python", ruff, "node_modules"),
];

/** A package says what its modules look for; where the package is, is known here. */
function inside(folder: string, { readBy, from, to }: CarriedFiles, files = folder): CarriedFiles {
  return { readBy: `${folder}/${readBy}`, from: `${files}/${from}`, to };
}

/** What Python leaves behind on the machine that deploys. */
const filter = (path: string) => basename(path) !== "__pycache__";

/** A bundle with such a module has its files, wherever its handler lies; one without has none of them. */
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

/** How SST bundles a handler. Split, so that what is imported when it is needed is not read when a Lambda begins. */
export const bundling = {
  format: "esm",
  splitting: true,
  minify: true,
  sourcemap: false,
  esbuild: { plugins: [importAttributes, leaveOut, carryFiles] },
} satisfies NodeJSProps;
