import { compileWorkflow } from "@nova/compiler";
import { publishWorkflow, type WorkflowVersion } from "@nova/engine";
import type { LocalCloud } from "@nova/local";
import { readWorkflowSource } from "@nova/workflow";

/**
 * The workflow of an example's folder, ready to run. `adapt` changes its definition, such as the hosts of this machine
 * that its nodes may reach.
 */
export async function publishExample(
  cloud: LocalCloud,
  folder: string,
  adapt: (definition: string) => string = (definition) => definition,
): Promise<WorkflowVersion> {
  const source = await readWorkflowSource(folder);
  const compiled = await compileWorkflow({ ...source, text: adapt(source.text) });
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
