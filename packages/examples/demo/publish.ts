import { compileWorkflow } from "@nova/compiler";
import { publishWorkflow, type WorkflowVersion } from "@nova/engine";
import type { LocalCloud } from "@nova/local";
import { readWorkflowSource } from "@nova/workflow";

/** The workflow of an example's folder, ready to run. */
export async function publishExample(cloud: LocalCloud, folder: string): Promise<WorkflowVersion> {
  const compiled = await compileWorkflow(await readWorkflowSource(folder));
  if (!compiled.workflow)
    throw new TypeError(`the workflow in ${folder} has findings: ${JSON.stringify(compiled.findings)}`);
  const { workflow, definition, history } = compiled;
  return publishWorkflow(cloud.ports, {
    workflow,
    stateMachine: definition,
    history,
    template: await cloud.templateFor(workflow.requirements),
  });
}
