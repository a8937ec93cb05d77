/** What the library behind `ruff.ts` reads beside itself, in node_modules: who bundles it lays it beside the bundle. */
export const carried = {
  readBy: "src/ruff.ts",
  from: "@astral-sh/ruff-wasm-nodejs/ruff_wasm_bg.wasm",
  to: "ruff_wasm_bg.wasm",
};
