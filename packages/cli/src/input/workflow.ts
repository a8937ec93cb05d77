import type { Compiled } from "@nova/compiler";
import type { ParsedWorkflow } from "@nova/workflow";

/** Reads and parses the workflow at a path. If it cannot be read, the only finding says so. */
export async function readAndParse(path: string): Promise<ParsedWorkflow> {
  const { parseWorkflow, readWorkflowSource, WorkflowSourceError } = await import("@nova/workflow");
  try {
    return parseWorkflow(await readWorkflowSource(path));
  } catch (error) {
    if (error instanceof WorkflowSourceError) return { findings: [error.finding], python: [], keyFindings: () => [] };
    throw error;
  }
}

export async function readAndCompile(path: string): Promise<Compiled> {
  const parsed = await readAndParse(path);
  const { compileParsed } = await import("@nova/compiler");
  return compileParsed(parsed);
}
