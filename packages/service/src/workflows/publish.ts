import { publishWorkflow, type WorkflowVersion } from "@nova/engine";
import type { Finding, WorkflowSource } from "@nova/workflow";
import { demandAllClients } from "../access/authenticate.ts";
import type { Principal } from "../access/principal.ts";
import { recordDeed } from "../audit/record.ts";
import { Refused } from "../errors.ts";
import type { ServicePorts } from "../ports/index.ts";
import { demandValid } from "./validate.ts";

export interface Published {
  id: string;
  version: number;
  /** Later releases publish through a queue: then it may also be `publishing` or `failed`. */
  status: "ready";
  /** False where the definition was the latest version already. */
  created: boolean;
  /** Warnings. */
  findings: Finding[];
}

/**
 * Validates, stores a version, publishes it and makes it what new runs use. A definition that is the latest version
 * already is that version. Throws `Refused` with the findings; `Forbidden`.
 */
export async function publish(
  ports: ServicePorts,
  by: Principal,
  source: WorkflowSource,
  id?: string,
): Promise<Published> {
  demandAllClients(by);
  const { workflow, definition, history, findings } = await demandValid(ports, source);
  if (id !== undefined && workflow.id !== id) {
    throw new Refused(`the definition has the id "${workflow.id}", the address "${id}" - use the same in both`);
  }
  const before = await ports.workflows.latest(workflow.id);
  const template = await ports.templates.of(workflow.requirements);
  const version = await publishWorkflow(ports, { workflow, stateMachine: definition, history, template });
  const created = version.version !== before?.version;
  await putForward(ports, version);
  const detail = { version: version.version };
  await recordDeed(ports, by, { action: "workflow.published", client: null, subject: workflow.id, detail });
  return { id: workflow.id, version: version.version, status: "ready", created, findings };
}

/** What was deleted before and is published again is there again. */
async function putForward({ workflowStates }: ServicePorts, { workflowId, version }: WorkflowVersion): Promise<void> {
  const { deleted = 0 } = (await workflowStates.get(workflowId)) ?? {};
  if (deleted >= version) await workflowStates.set(workflowId, { active: version, deleted: version - 1 });
  else await workflowStates.advance(workflowId, version);
}
