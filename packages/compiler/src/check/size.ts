import { type Finding, finding } from "@nova/workflow";

/** AWS Step Functions, quotas: a definition's largest size. */
export const definitionLimitBytes = 1_048_576;

/** NOVA701 where the definition is more than Step Functions takes; `nodes` is how many the workflow has. */
export function checkSize(definition: string, nodes: number): Finding[] {
  const bytes = Buffer.byteLength(definition);
  if (bytes <= definitionLimitBytes) return [];
  const fitting = Math.floor(definitionLimitBytes / (bytes / nodes));
  const size = `the state machine of ${nodes} nodes has ${bytes.toLocaleString("en")} bytes`;
  const limit = `Step Functions takes ${definitionLimitBytes.toLocaleString("en")}`;
  const message = `${size}, ${limit} - about ${fitting} nodes like these fit; divide the workflow, or shorten descriptions`;
  return [finding("NOVA701", "$.nodes", message)];
}
