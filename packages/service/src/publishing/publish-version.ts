import { toMachine } from "@nova/compiler";
import { StoreUnavailable, type WorkflowVersion } from "@nova/engine";
import type { Trigger } from "@nova/workflow";
import type { ServicePorts } from "../ports/index.ts";
import type { Publication, PublicationName } from "../ports/workflow-states.ts";
import { activateUnlessOlder, settleTriggers, setUpTriggers } from "./move-active.ts";
import { dropOldMachines } from "./old-machines.ts";

/**
 * Publishes a pending version: makes a version of its state machine and activates it. Every step can be repeated: after a
 * crash, Step Functions answers the same definition with a version of the same contents. An outage is thrown, so the
 * queue delivers again. Every other error would repeat, so the publication becomes `failed` with the reason. For a
 * publication that is over, it settles triggers that a crashed process left. Returns whether it called Step Functions.
 */
export async function publishVersion(ports: ServicePorts, name: PublicationName): Promise<boolean> {
  const read = await catchRefusal(async () => ({ publication: await ports.publications.get(name) }));
  if ("reason" in read) await ports.publications.settle(name, { status: "failed", ...read });
  else if (read.publication?.status !== "publishing")
    await trySettleTriggers(ports, name.workflowId, read.publication?.workflow.triggers);
  else return publishPending(ports, name, read.publication);
  return false;
}

async function publishPending(ports: ServicePorts, name: PublicationName, publication: Publication): Promise<true> {
  const ready = await catchRefusal(() => makeReady(ports, publication));
  if ("reason" in ready) {
    await withdraw(ports, publication, ready);
    return true;
  }
  await ports.publications.settle(name, { status: "ready" });
  await dropOldMachines(ports, ready);
  return true;
}

type Refusal = { reason: string };

/** Sets up the triggers before it stores the version, so a version whose triggers fail never runs. */
async function makeReady(ports: ServicePorts, publication: Publication): Promise<WorkflowVersion | Refusal> {
  const { deleted = 0 } = (await ports.workflowStates.get(publication.workflowId)) ?? {};
  if (deleted >= publication.version) return { reason: "the workflow was deleted meanwhile - publish it again" };
  const made = await makeMachine(ports, publication);
  if ("reason" in made) return made;
  await setUpTriggers(ports, made);
  const stored = await storeVersion(ports, made);
  if (!("reason" in stored)) await activateUnlessOlder(ports, stored);
  return stored;
}

/** Removes its triggers before the publication ends, since no process would remove them afterwards. */
async function withdraw(ports: ServicePorts, publication: Publication, { reason }: Refusal): Promise<void> {
  const { workflowId, version, workflow } = publication;
  const left = await trySettleTriggers(ports, workflowId, workflow.triggers);
  const more =
    "reason" in left ? `; the triggers of the version before have to be published again: ${left.reason}` : "";
  await ports.publications.settle({ workflowId, version }, { status: "failed", reason: `${reason}${more}` });
}

/** Settles triggers. If that fails, the sweeper tries again. */
function trySettleTriggers(
  ports: ServicePorts,
  workflowId: string,
  touched?: readonly Trigger[],
): Promise<object | Refusal> {
  return catchRefusal(async () => {
    await settleTriggers(ports, workflowId, touched);
    return {};
  });
}

const wayOut = "correct it, and publish it again";
/** Names of errors whose message already names the way out. */
const selfExplaining: readonly string[] = ["Conflict", "Refused", "DefinitionMissing", "UnknownFormat"];

async function catchRefusal<T extends object>(step: () => Promise<T>): Promise<T | Refusal> {
  try {
    return await step();
  } catch (error) {
    if (!(error instanceof Error) || error instanceof StoreUnavailable) throw error;
    const { name, message } = error;
    return { reason: selfExplaining.includes(name) ? message : `${name}: ${message} - ${wayOut}` };
  }
}

async function makeMachine(ports: ServicePorts, publication: Publication): Promise<WorkflowVersion | Refusal> {
  const { functions, stateMachines } = ports;
  const { workflowId, version, hash, workflow, template, createdAt, draftOf } = publication;
  const { stateMachine, history } = toMachine(workflow, { functions });
  const draft = draftOf !== undefined && { draftOf };
  const named = { format: 1, workflowId, version, hash, workflow, template, createdAt, ...draft } as const;
  try {
    const definition = JSON.stringify(stateMachine);
    const stateMachineArn = await stateMachines.publish(`nova-${workflowId}`, definition, `version ${version}`);
    return { ...named, stateMachineArn, ...(history && { history }) };
  } catch (error) {
    if (!(error instanceof Error) || error instanceof StoreUnavailable) throw error;
    return { reason: `Step Functions refused it: ${error.name}: ${error.message} - ${wayOut}` };
  }
}

/** Stores the version. A crashed attempt may have stored it already, or another publication may have taken the number. */
async function storeVersion({ workflows }: ServicePorts, made: WorkflowVersion): Promise<WorkflowVersion | Refusal> {
  if (await workflows.create(made)) return made;
  const there = await workflows.get(made.workflowId, made.version);
  if (there?.hash === made.hash) return there;
  return { reason: `version ${made.version} was taken by another publication - publish it again` };
}
