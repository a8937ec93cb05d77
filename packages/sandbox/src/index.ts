export { preloadSdk } from "./connections.ts";
export { createSandboxes, type SandboxesOptions } from "./create-sandboxes.ts";
export { othersSandboxes } from "./sandboxes.ts";
export { buildTemplate, readDocstrings, sandboxTemplate, templateExists } from "./template.ts";
