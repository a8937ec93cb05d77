import type { StartedExecution } from "@nova/client";
import { publishWorkflow, type WorkflowVersion } from "@nova/engine";
import type { LocalCloud } from "@nova/local";
import type { Call } from "@nova/service";
import type { Workflow } from "@nova/workflow";
import { defined } from "@nova/workflow/defined";
import { ulid } from "ulid";
import { InvalidInput } from "../errors.ts";
import type { Interrupt } from "../interrupt.ts";
import { thisUser } from "../this-user.ts";
import type { Checked, RunRequest } from "./request.ts";

/**
 * Publishes a folder on this machine and starts a trial run of it. The active version and the triggers stay unchanged,
 * and no quota delays the run. Null if the user pressed Ctrl-C before the start.
 */
export async function startHere(
  cloud: LocalCloud,
  request: RunRequest,
  interrupt: Interrupt,
): Promise<StartedExecution | null> {
  const { executeVersion } = await import("@nova/service");
  const { called, workflow, client, reuse, ...start } = request;
  for (const one of called.workflows) await publishHere(cloud, one);
  await demandCalled(cloud, called.calls, workflow);
  const version = await publishHere(cloud, request);
  if (interrupt.wasRequested) return null;
  const asked = { ...start, ulid: ulid(), namesUploads: true, ...defined({ client, reuse }) };
  const { id, status } = await executeVersion(cloud.service, thisUser(), version, asked);
  return { execution_id: id, status };
}

async function publishHere(cloud: LocalCloud, { workflow, definition, history }: Checked): Promise<WorkflowVersion> {
  const template = await cloud.templateFor(workflow);
  return publishWorkflow(cloud.ports, { workflow, stateMachine: definition, history, template });
}

/** Throws `InvalidInput` if a called workflow does not exist. */
async function demandCalled({ ports }: LocalCloud, calls: readonly Call[], caller: Workflow): Promise<void> {
  const { missingCall } = await import("@nova/service");
  for (const call of calls) {
    const missing = call.workflow === caller.id ? undefined : await missingCall(ports, call);
    if (!missing) continue;
    const advice = "put its folder next to this one, or run it once (nova run <folder>)";
    throw new InvalidInput(`${missing.message} - ${missing.latest ? `the latest is ${missing.latest}` : advice}`);
  }
}
