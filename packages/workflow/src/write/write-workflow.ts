import { analysisFileOf, codeFileOf, lockFileName, lockText } from "../lock/lock-file.ts";
import type { LockedCode } from "../lock/locked-code.ts";
import { codeFileText } from "../lock/read-lock.ts";
import type { WorkflowSource } from "../parse/source.ts";
import type { Workflow } from "../workflow.ts";
import { withoutAbsent, writeBody, writeModel } from "./write-node.ts";

/**
 * A workflow as people write it, so that parsing it makes the same one again. Triggers are left out: a copy shall not
 * start runs by itself.
 */
export function writeWorkflow(workflow: Workflow): WorkflowSource {
  const { id, name, description, timeoutSeconds: timeout, inputs, requirements, model, maxCostUsd } = workflow;
  const { approval, scope, credentials, lib, lock = {} } = workflow;
  const files: Record<string, string> = {};
  const fields = {
    ...{ id, name, description, timeout, inputs, approval, scope, credentials },
    requirements: requirements.length > 0 ? requirements : undefined,
    model: model && writeModel(model),
    limits: maxCostUsd === undefined ? undefined : { max_cost_usd: maxCostUsd },
    ...writeBody(workflow, files),
  };
  for (const [path, source] of Object.entries(lib)) files[`lib/${path}`] = source;
  Object.assign(files, lockFiles(lock));
  return { text: `${JSON.stringify(withoutAbsent(fields), null, 2)}\n`, fileName: "workflow.json", files };
}

function lockFiles(lock: Record<string, LockedCode>): Record<string, string> {
  const nodes = Object.entries(lock);
  if (nodes.length === 0) return {};
  const code = nodes.flatMap(([node, { code, analysis }]) => [
    [codeFileOf(node), codeFileText(code)],
    ...(analysis === undefined ? [] : [[analysisFileOf(node), codeFileText(analysis)]]),
  ]);
  return { ...Object.fromEntries(code), [lockFileName]: lockText(lock) };
}
