export { createSandboxes, type SandboxesOptions } from "./create-sandboxes.ts";
export { othersSandboxes } from "./others-sandboxes.ts";
export {
  type BuildTemplateOptions,
  buildTemplate,
  docstringsScript,
  readDocstrings,
  sandboxTemplate,
  templateExists,
} from "./template.ts";
