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

/** Zod's messages in fifty languages are a tenth of the bundle, and nobody asks for them. */
const oneLanguage: Plugin = {
  name: "one-language",
  setup(build) {
    build.onLoad({ filter: /zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({ contents: "", loader: "js" }));
  },
};

/** How SST bundles a handler. Split, so that what is imported when it is needed is not read when a Lambda begins. */
export const bundling = {
  format: "esm",
  splitting: true,
  minify: true,
  sourcemap: false,
  esbuild: { plugins: [importAttributes, oneLanguage] },
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
