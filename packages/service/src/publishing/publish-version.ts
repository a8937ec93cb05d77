import { toMachine } from "@nova/compiler";
import { StoreUnavailable, type WorkflowVersion } from "@nova/engine";
import type { ServicePorts } from "../ports/index.ts";
import type { Publication, PublicationName } from "../ports/publications.ts";
import { dropOldMachines } from "./old-machines.ts";
import { makeTriggersReal, putForward } from "./put-forward.ts";

/**
 * Makes a version that waits a version of its state machine, and what new runs use. Every step may be done twice: who
 * comes after a process that died publishes the same definition again, which Step Functions answers with a version of
 * the same contents. What Step Functions refuses is `failed`, with its reason; an outage is thrown.
 */
export async function publishVersion(ports: ServicePorts, name: PublicationName): Promise<void> {
  const publication = await ports.publications.get(name);
  if (publication?.status !== "publishing") return;
  const ready = await makeReady(ports, publication);
  if ("reason" in ready) return ports.publications.settle(name, { status: "failed", reason: ready.reason });
  await putForward(ports, ready);
  await ports.publications.settle(name, { status: "ready" });
  await dropOldMachines(ports, ready);
}

type Refusal = { reason: string };

/** The triggers before the version: one that cannot have them is never there to be run. */
async function makeReady(ports: ServicePorts, publication: Publication): Promise<WorkflowVersion | Refusal> {
  const made = await makeMachine(ports, publication);
  if ("reason" in made) return made;
  try {
    await makeTriggersReal(ports, made);
  } catch (error) {
    if (!(error instanceof Error) || !["Conflict", "Refused"].includes(error.name)) throw error;
    return { reason: error.message };
  }
  return storeVersion(ports, made);
}

async function makeMachine(ports: ServicePorts, publication: Publication): Promise<WorkflowVersion | Refusal> {
  const { functions, stateMachines } = ports;
  const { workflowId, version, hash, workflow, template, createdAt } = publication;
  const { stateMachine, history } = toMachine(workflow, functions ? { functions } : {});
  const named = { format: 1, workflowId, version, hash, workflow, template, createdAt } as const;
  try {
    const definition = JSON.stringify(stateMachine);
    const stateMachineArn = await stateMachines.publish(`nova-${workflowId}`, definition, `version ${version}`);
    return { ...named, stateMachineArn, ...(history && { history }) };
  } catch (error) {
    if (!(error instanceof Error) || error instanceof StoreUnavailable) throw error;
    return { reason: `Step Functions refused it: ${error.name}: ${error.message}` };
  }
}

/** The number may be taken by whoever was here before, or by a publication that went past the queue. */
async function storeVersion({ workflows }: ServicePorts, made: WorkflowVersion): Promise<WorkflowVersion | Refusal> {
  if (await workflows.create(made)) return made;
  const there = await workflows.get(made.workflowId, made.version);
  if (there?.hash === made.hash) return there;
  return { reason: `version ${made.version} was taken by another publication - publish it again` };
}
