/**
 * The WebAssembly file that ruff reads from node_modules when it is loaded. A bundler must copy it beside the bundle.
 */
export const carried = {
  readBy: "src/check-python.ts",
  from: "@astral-sh/ruff-wasm-nodejs/ruff_wasm_bg.wasm",
  to: "ruff_wasm_bg.wasm",
};
