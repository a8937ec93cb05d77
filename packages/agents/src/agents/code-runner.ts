import type { CodeResult } from "@nova/engine";
import { type CodeFinding, listImportableModules } from "@nova/python";
import { type RunErrorClass, runErrors } from "@nova/workflow";
import { z } from "zod";
import { done, ended, endingOf, type Failure, failed, type Result, tracesOf } from "../failures/failure.ts";
import { faultOf, findUnreachableHost, type KnownHosts } from "../failures/fault-of.ts";
import { analysisKey } from "../lock/ingredients.ts";
import type { NodeRun, StepResult } from "./node-run.ts";
import { changesForRecord, contextForRecord, contextKeys, packagesOf, takeStep } from "./node-run.ts";

export interface SuccessfulRun {
  result: CodeResult & { status: "success" };
  sandboxId: string;
}

/**
 * The outcome of executed code: a success or a failure. After a failure with the fault "code", other code could
 * succeed. With the fault "world", other code would fail too.
 */
export type ExecutionEnd = SuccessfulRun | { failure: Failure; fault: "code" | "world" };

/** Runs the code in the node's sandbox as a step. The same rules as for hand-written code judge the result. */
export async function runCode(run: NodeRun, attempt: number, code: string): Promise<Result<SuccessfulRun>> {
  const step = await takeStep(run, "E2BExecutor", attempt, async (journal) => {
    const { timeoutSeconds } = run.task.node;
    const end = await executeAndJudge(run, journal, attempt, code);
    const input_data = { context: contextForRecord(run), timeout_seconds: timeoutSeconds };
    return { ...stepResultOf(run, end), input_data, sandbox_id: run.sandboxId };
  });
  run.sandboxId = step.sandbox_id ?? run.sandboxId;
  if (step.status === "success" && step.result?.status === "success")
    return done({ result: step.result, sandboxId: step.sandbox_id ?? "" });
  const { error_class, fault, types } = Recorded.parse(step.output_data);
  const { error_message, traceback, logs } = step;
  const message = error_message ?? "the code failed";
  const failure = { attempt, code, class: error_class, message, ...tracesOf({ traceback, types, logs }) };
  return fault === "world" ? ended(endingOf(failure)) : failed(failure);
}

/**
 * Runs code, with the result of the analysis in its context, and judges the result. `journal` is the position that
 * identifies this run of the code, so that the code starts only once.
 */
export async function executeAndJudge(
  run: NodeRun,
  journal: number,
  attempt: number,
  code: string,
): Promise<ExecutionEnd> {
  const { means, task, analysis } = run;
  const extra = analysis && { extra: [{ key: analysisKey, json: analysis.json }] };
  const options = { timeoutSeconds: task.node.timeoutSeconds, ...extra };
  const { sandboxId, result } = await means.execute(journal, code, options);
  run.sandboxId = sandboxId;
  const judgement = await means.judge(result);
  if (result.status === "success" && judgement.status === "success") return { result, sandboxId };
  if (judgement.status === "success") throw new TypeError(`node "${task.node.id}": a failed run was judged a success`);
  const { message, traceback, class: name, types } = judgement;
  const logs = task.mask(result.logs);
  const failure: Failure = { attempt, code, class: name, message, ...tracesOf({ traceback, types, logs }) };
  if (result.status === "success" || name === "NodeTimeout") return { failure, fault: "code" };
  // Attempt 0 is pinned code. The hosts in this code count as known, because the code reached them in the run that
  // proved it.
  const surroundings = knownHosts(run, attempt === 0 ? code : undefined);
  const fault = await faultOf({ message: result.message, traceback: result.traceback, code }, surroundings);
  const reason = fault === "world" ? findUnreachableHost(logs) : "";
  return { failure: reason ? { ...failure, message: `${message} - ${reason}` } : failure, fault };
}

const Recorded = z.object({
  error_class: z.enum(Object.keys(runErrors) as RunErrorClass[]),
  fault: z.enum(["code", "world"]),
  types: z.array(z.string()).optional(),
});

export function stepResultOf(run: NodeRun, end: ExecutionEnd): Omit<StepResult, "input_data"> {
  if ("result" in end) {
    const { result } = end;
    return { status: "success", output_data: changesForRecord(run, result), result };
  }
  const { failure, fault } = end;
  const { class: error_class, message, traceback, types, logs } = failure;
  return {
    status: "failed",
    output_data: { error_class, fault, ...tracesOf({ types }) },
    error_message: message,
    ...tracesOf({ traceback, logs }),
  } as Omit<StepResult, "input_data">;
}

const maxBytes = 262_144;
const maxBlobs = 8;

/**
 * Finds the hosts that a node's code can name without making them up: the hosts in the prompt, the data, the modules
 * and the network rules of the node, and in the `proven` code.
 */
export function knownHosts(run: NodeRun, proven?: string): KnownHosts {
  const { task, executor } = run;
  const inline = [
    executor.prompt,
    ...executor.allow,
    ...task.input.map(({ json }) => json),
    ...Object.values(task.version.workflow.lib),
    proven ?? "",
  ];
  let large: Promise<string[]> | undefined;
  return {
    async names(host) {
      if (inline.some((text) => mentionsHost(text, host))) return true;
      large ??= largeTexts(run);
      return (await large).some((text) => mentionsHost(text, host));
    },
    has: (key) => task.input.some((member) => member.key === key),
  };
}

/** Reads the large texts of the context, which are blobs. They may mention hosts, as a long mail does. */
async function largeTexts({ task, means }: NodeRun): Promise<string[]> {
  const keys = task.input.filter(({ json }) => json.includes('"$blob"')).slice(0, maxBlobs);
  const texts = await Promise.all(keys.map(({ key }) => means.valueText(key, maxBytes)));
  return texts.filter((text) => text !== null);
}

/**
 * Returns true if the text contains the whole host name: `mail.acme.com` does not mention `acme.com`. The text may be
 * JSON.
 */
function mentionsHost(text: string, host: string): boolean {
  const escaped = host.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const plain = text.replace(/\\[nrtbf/]/g, " ");
  return new RegExp(`(^|[^\\w.-])${escaped}($|[^\\w.-]|\\.(\\W|$))`, "i").test(plain);
}

const missingModule: CodeFinding["code"] = "PY140";
const RecordedCheck = z.object({ valid: z.boolean() });

/** Checks the code without running it and without a model. */
export async function validateCode(run: NodeRun, attempt: number, code: string): Promise<Result<null>> {
  const { task, parts } = run;
  const step = await takeStep(run, "CodeValidator", attempt, async () => {
    const found = await parts.check(code, aboutCode(run));
    // With requirements, a missing module is no error, because NOVA can only guess some of the names of modules.
    const ignored = task.version.workflow.requirements.length > 0 ? missingModule : undefined;
    const errors = found.filter(({ severity, code }) => severity === "error" && code !== ignored);
    const output_data = { valid: errors.length === 0, findings: found };
    const input_data = { code_length: code.length, node_type: task.node.type, context_keys: contextKeys(run) };
    if (errors.length === 0) return { status: "success", input_data, output_data };
    const error_message = errors.map(({ line, message }) => `line ${line}: ${message}`).join("\n");
    return { status: "failed", input_data, output_data, error_message };
  });
  const { valid } = RecordedCheck.parse(step.output_data);
  if (valid) return done(null);
  return failed({ attempt, message: step.error_message ?? "the code is not valid", code, class: "NodeFailed" });
}

function aboutCode(run: NodeRun) {
  const { task, shape, analysis } = run;
  const { node, edges, version } = task;
  return {
    nodeType: node.type === "decision" ? ("decision" as const) : ("action" as const),
    ...(node.type === "decision" && { edges: edges.map(({ condition }) => String(condition ?? "default")) }),
    isRun: true,
    context: analysis ? { ...shape, [analysisKey]: { type: "object" } as const } : shape,
    modules: listImportableModules(packagesOf(run)),
    lib: Object.keys(version.workflow.lib),
  };
}
