export { harnessFolder } from "./harness.ts";
export { createSandboxes, type SandboxesOptions } from "./sandboxes.ts";
