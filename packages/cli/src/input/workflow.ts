import type { Compiled } from "@nova/compiler";

/** Reads and compiles what a path names; where there is nothing to read, that is the one finding. */
export async function readAndCompile(path: string): Promise<Compiled> {
  const { readWorkflowSource, WorkflowSourceError } = await import("@nova/workflow");
  const { compileWorkflow } = await import("@nova/compiler");
  try {
    return await compileWorkflow(await readWorkflowSource(path));
  } catch (error) {
    if (error instanceof WorkflowSourceError) return { findings: [error.finding] };
    throw error;
  }
}
