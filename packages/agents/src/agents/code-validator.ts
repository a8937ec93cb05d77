import { type CodeFinding, listImportableModules, type ValueShape } from "@nova/python";
import { z } from "zod";
import { done, failed, type Result } from "../failures/failure.ts";
import { analysisKey } from "../lock/reads.ts";
import type { NodeRun } from "./node-run.ts";
import { contextKeys, packagesOf } from "./show-context.ts";
import { takeStep } from "./step.ts";

const missingModule: CodeFinding["code"] = "PY140";
const Recorded = z.object({ valid: z.boolean() });

/** Checks the code without running it and without a model. */
export async function validateCode(run: NodeRun, attempt: number, code: string): Promise<Result<null>> {
  const { task, parts } = run;
  const step = await takeStep(run, "CodeValidator", attempt, async () => {
    const found = await parts.check(code, aboutCode(run));
    const errors = found.filter((finding) => isError(run, finding));
    const output_data = { valid: errors.length === 0, findings: found };
    const input_data = { code_length: code.length, node_type: task.node.type, context_keys: contextKeys(run) };
    if (errors.length === 0) return { status: "success", input_data, output_data };
    const error_message = errors.map(({ line, message }) => `line ${line}: ${message}`).join("\n");
    return { status: "failed", input_data, output_data, error_message };
  });
  const { valid } = Recorded.parse(step.output_data);
  if (valid) return done(null);
  return failed({ attempt, message: step.error_message ?? "the code is not valid", code, class: "NodeFailed" });
}

/** A missing module is no error in a workflow with requirements, because their module names are partly guessed. */
function isError({ task }: NodeRun, { severity, code }: CodeFinding): boolean {
  return severity === "error" && !(code === missingModule && task.version.workflow.requirements.length > 0);
}

function aboutCode(run: NodeRun) {
  const { task, shape, analysis } = run;
  const { node, edges, version } = task;
  return {
    nodeType: node.type,
    ...(node.type === "decision" && { edges: edges.map(({ condition }) => String(condition ?? "default")) }),
    isRun: true,
    context: analysis ? { ...shape, [analysisKey]: shapeOfAnalysis } : shape,
    modules: listImportableModules(packagesOf(run)),
    lib: Object.keys(version.workflow.lib),
  };
}

const shapeOfAnalysis: ValueShape = { type: "object" };
