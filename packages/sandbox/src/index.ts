export { harnessFolder } from "./harness.ts";
export { createSandboxes, type SandboxesOptions } from "./sandboxes.ts";
export {
  type BuildTemplateOptions,
  buildTemplate,
  docstringsScript,
  readDocstrings,
  sandboxTemplate,
  templateExists,
  templatePackages,
} from "./template.ts";
