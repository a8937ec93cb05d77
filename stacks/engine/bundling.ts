import { readFile } from "node:fs/promises";
import type { FunctionProps, NodeJSProps } from "sst/constructs";

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

/** How SST bundles a handler. Split, so that what is imported when it is needed is not read when a Lambda begins. */
export const bundling = {
  format: "esm",
  splitting: true,
  minify: true,
  sourcemap: false,
  esbuild: { plugins: [importAttributes, leaveOut] },
} satisfies NodeJSProps;

/**
 * Files that code looks for beside itself (`import.meta.url`, `__dirname`), which is `functions/` in a bundle: the
 * harness that goes into sandboxes, what models are told, and ruff.
 */
export const besideBundle = [
  { from: "packages/sandbox/python", to: "python" },
  { from: "packages/agents/src/knowledge/shelf", to: "functions/shelf" },
  {
    from: "node_modules/@astral-sh/ruff-wasm-nodejs/ruff_wasm_bg.wasm",
    to: "functions/ruff_wasm_bg.wasm",
  },
] satisfies FunctionProps["copyFiles"];
