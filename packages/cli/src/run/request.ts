import type { FileInput } from "@nova/engine";
import type { Finding, Workflow } from "@nova/workflow";
import { InvalidInput } from "../errors.ts";
import { readContext } from "../input/context.ts";
import { readFiles } from "../input/files.ts";
import { oneNodeWorkflow } from "../input/one-node.ts";
import { readAndCompile } from "../input/workflow.ts";

export interface RunOptions {
  context?: string;
  set: string[];
  file: string[];
  node?: string;
}

/** Everything that a run needs to begin, checked. */
export interface RunRequest {
  workflow: Workflow;
  definition: string;
  /** JSON text. */
  context: string;
  files: FileInput[];
  warnings: Finding[];
}

/** The workflow has errors; they are all here. */
export class InvalidWorkflow extends InvalidInput {
  override name = "InvalidWorkflow";
  readonly findings: Finding[];

  constructor(path: string, findings: Finding[]) {
    const errors = findings.filter((one) => one.severity === "error");
    const more = errors.length > 1 ? ` (and ${errors.length - 1} more - nova validate ${path} lists them)` : "";
    super(`${errors[0]?.code}: ${errors[0]?.message}${more}`);
    this.findings = findings;
  }
}

/** Throws `InvalidWorkflow`, `InvalidInput`. */
export async function readRequest(path: string, options: RunOptions): Promise<RunRequest> {
  const [compiled, context, files] = await Promise.all([
    readAndCompile(path),
    readContext(options.context, options.set),
    readFiles(options.file),
  ]);
  const { workflow, definition, findings } = compiled;
  if (!workflow) throw new InvalidWorkflow(path, findings);
  const whole = { workflow, definition, context, files, warnings: findings };
  if (options.node === undefined) return whole;
  const { toStateMachine } = await import("@nova/compiler");
  const alone = oneNodeWorkflow(workflow, options.node);
  return { ...whole, workflow: alone, definition: JSON.stringify(toStateMachine(alone)) };
}
