import type { TaskSource } from "../authored/kind.ts";
import { type ExecutorKind, executorKind } from "../authored/task.ts";
import { type Finding, finding } from "../findings/finding.ts";
import { at } from "../findings/text.ts";
import type { Loose } from "../json/value.ts";
import type { NodeType } from "../workflow.ts";
import { type NodeScope, readFileField } from "./files.ts";
import type { ReadNode } from "./read.ts";

type ReadExecutor = { source?: TaskSource } & Pick<ReadNode, "python" | "findings">;

/**
 * Reads the executor of a node and its code or prompt. It reads the node as written, so that a wrong timeout does not
 * stop the check of its code. The schema reports fields of a wrong type.
 */
export function readExecutor(node: Loose, type: NodeType, scope: NodeScope): ReadExecutor {
  const kind = executorKind(node.executor);
  const given = (["code", "codeFile", "prompt", "promptFile"] as const).filter((field) => node[field] !== undefined);
  if (kind === undefined) return { findings: [] };
  const wanted = kind === "code" ? (["code", "codeFile"] as const) : (["prompt", "promptFile"] as const);
  const fitting = wanted.filter((field) => given.includes(field));
  const findings = doesNotFit(kind, given, fitting, scope);
  const [field, second] = fitting;
  if (field === undefined) return { findings };
  if (second !== undefined) {
    const message = `${scope.name} has both ${field} and ${second} - keep one of them`;
    findings.push(finding("NOVA402", at(scope.path, second), message));
  }
  const content = readFileField(field, node[field], scope);
  if ("findings" in content) return { findings: [...findings, ...content.findings] };
  const { text, file } = content;
  const written = file === undefined ? {} : { file };
  const source = { prompt: text, ...written, shared: scope.shared };
  if (kind === "prompt") return { source: { kind, ...source }, findings };
  if (kind === "text") {
    const outputSchema =
      node.output_schema === undefined ? {} : { outputSchema: scope.exactly(at(scope.path, "output_schema")) };
    return { source: { kind, ...source, ...outputSchema }, findings };
  }
  const own = { id: typeof node.id === "string" ? node.id : "", type };
  const python = { node: own, code: text, path: at(scope.path, field), ...written };
  return { source: { kind, code: text, ...written, shared: scope.shared }, python, findings };
}

function doesNotFit(
  kind: ExecutorKind,
  given: string[],
  fitting: readonly string[],
  { name, path }: NodeScope,
): Finding[] {
  const wanted = kind === "code" ? "code or codeFile" : "prompt or promptFile";
  if (given.length === 0) {
    return [finding("NOVA401", path, `${name} has no ${kind === "code" ? "code" : "prompt"} - add ${wanted}`)];
  }
  const [first] = fitting;
  const other = `add "executor": ${kind === "code" ? '"prompt" or "text"' : '"code"'}, or write ${wanted}`;
  return given.flatMap((field) => {
    if (fitting.includes(field)) return [];
    const message =
      first === undefined
        ? `${name}: the executor "${kind}" takes ${wanted}, not ${field} - ${other}`
        : `${name} has both ${first} and ${field} - its executor "${kind}" takes ${wanted}, remove ${field}`;
    return [finding(first === undefined ? "NOVA403" : "NOVA402", at(path, field), message)];
  });
}
