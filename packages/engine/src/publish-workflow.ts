import { type HistoryBudget, type Workflow, workflowHash } from "@nova/workflow";
import type { Ports } from "./ports/index.ts";
import type { WorkflowVersion } from "./ports/pipeline.ts";

interface PublishRequest {
  workflow: Workflow;
  stateMachine: string;
  /**
   * The event counts that the compiler returned with the state machine; absent if no loop continues in further
   * executions.
   */
  history?: HistoryBudget | undefined;
  template: string;
}

/**
 * Publishes the state machine, and then stores a version that names it. If the latest version has the same hash and the
 * same template, only returns that version.
 */
export async function publishWorkflow(ports: Ports, request: PublishRequest): Promise<WorkflowVersion> {
  const { workflow, stateMachine, template, history } = request;
  const hash = workflowHash(workflow);
  for (;;) {
    const latest = await ports.workflows.latest(workflow.id);
    if (latest?.hash === hash && latest.template === template) return latest;
    const version = (latest?.version ?? 0) + 1;
    const published: WorkflowVersion = {
      format: 1,
      workflowId: workflow.id,
      version,
      hash,
      workflow,
      template,
      stateMachineArn: await ports.stateMachines.publish(`nova-${workflow.id}`, stateMachine, `version ${version}`),
      ...(history && { history }),
      createdAt: new Date(ports.clock.now()).toISOString(),
    };
    if (await ports.workflows.create(published)) return published;
  }
}
