import { toMachine } from "@nova/compiler";
import { StoreUnavailable, type WorkflowVersion } from "@nova/engine";
import type { Trigger } from "@nova/workflow";
import { listAllClients } from "../clients/clients.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { HandOver, Publication, PublicationName } from "../ports/workflow-states.ts";
import { callsOf } from "../workflows/called.ts";
import { activateUnlessOlder, settleTriggers, setUpTriggers } from "./move-active.ts";

/**
 * Publishes a pending version: makes a version of its state machine and activates it. Every step can be repeated: after
 * a crash, Step Functions returns a version with the same contents for the same definition. During an outage the
 * function throws, so the queue delivers the publication again. Every other error would occur again, so the publication
 * becomes `failed` with the reason. If the publication is already over, the function only settles triggers that a
 * crashed process left. Returns whether it called Step Functions.
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

/**
 * Makes the state machine, sets up the triggers, and then stores and activates the version. So a version whose triggers
 * cannot be set up never runs.
 */
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

/**
 * Ends a publication as failed. It removes the version's triggers first, since no process would remove them afterwards.
 */
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
/** Names of errors whose message already says what the user can do. */
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

/**
 * Stores the version. A crashed attempt may have stored it already, or another publication may have taken its number.
 */
async function storeVersion({ workflows }: ServicePorts, made: WorkflowVersion): Promise<WorkflowVersion | Refusal> {
  if (await workflows.create(made)) return made;
  const there = await workflows.get(made.workflowId, made.version);
  if (there?.hash === made.hash) return there;
  return { reason: `version ${made.version} was taken by another publication - publish it again` };
}

/** NOVA always keeps this number of the newest versions of one state machine. Step Functions keeps at most 1,000. */
const keptVersions = 50;

/** Removes old versions of a state machine, except those that open runs, active versions, client pins or nodes use. */
export async function dropOldMachines(ports: ServicePorts, published: WorkflowVersion): Promise<void> {
  const old = (await ports.machineVersions.list(published.stateMachineArn)).slice(keptVersions);
  if (old.length === 0) return;
  const needed = await neededMachines(ports, published.workflowId);
  for (const arn of old) if (!needed.has(arn)) await ports.machineVersions.remove(arn);
}

async function neededMachines(ports: ServicePorts, workflowId: string): Promise<ReadonlySet<string>> {
  const arns = new Set<string>();
  for await (const { stateMachineArn } of ports.executions.open()) arns.add(stateMachineArn);
  for (const number of await neededNumbers(ports, workflowId)) {
    const version = await ports.workflows.get(workflowId, number);
    if (version) arns.add(version.stateMachineArn);
  }
  return arns;
}

async function neededNumbers(ports: ServicePorts, workflowId: string): Promise<ReadonlySet<number>> {
  const numbers = new Set<number>();
  const { active } = (await ports.workflowStates.get(workflowId)) ?? {};
  if (active !== undefined) numbers.add(active);
  for await (const { pins } of listAllClients(ports)) {
    const pinned = pins[workflowId];
    if (pinned !== undefined) numbers.add(pinned);
  }
  for await (const { workflow } of ports.workflows.everyVersion()) {
    for (const call of callsOf(workflow)) {
      if (call.workflow === workflowId && call.version !== undefined) numbers.add(call.version);
    }
  }
  return numbers;
}

/**
 * A publication that is still pending this long after it was put into the queue counts as lost. The time doubles with
 * each repetition, since the publication may only be waiting in a long queue.
 */
const lostMs = 120_000;
const longestMs = 3_600_000;

type Clock = Pick<ServicePorts, "clock">;

export function isLost({ clock }: Clock, { times, at }: HandOver): boolean {
  return clock.now() >= Date.parse(at) + Math.min(longestMs, lostMs * 2 ** times);
}

function nextHandOver({ clock }: Clock, before?: HandOver): HandOver {
  return { times: (before?.times ?? 0) + 1, at: new Date(clock.now()).toISOString() };
}

/** Milliseconds that a request waits for its publication. Most publications take less. */
const patienceMs = 2_000;
const pauseMs = 100;

/** Puts a publication into the queue; without a queue, publishes it directly. */
export async function handOver(ports: ServicePorts, name: PublicationName): Promise<void> {
  if (!ports.publishQueue) await publishVersion(ports, name);
  else await ports.publishQueue.enqueue({ workflow: name.workflowId, version: name.version });
}

/** Puts a publication into the queue, and waits until it has ended, for at most `patienceMs`. Returns its state. */
export async function waitUntilPublished(ports: ServicePorts, waiting: Publication): Promise<Publication> {
  const { publications, clock } = ports;
  const name = { workflowId: waiting.workflowId, version: waiting.version };
  await handOver(ports, name);
  const end = clock.now() + patienceMs;
  for (;;) {
    const publication = await publications.get(name);
    if (publication?.status !== "publishing" || clock.now() >= end) return publication ?? waiting;
    await clock.sleep(pauseMs);
  }
}

/**
 * Puts lost publications into the queue again, and returns them. The pause before the next repetition doubles each
 * time, so a sweep does not repeat all publications of a long queue.
 */
export async function sweepPublications(ports: ServicePorts): Promise<PublicationName[]> {
  const again: PublicationName[] = [];
  for await (const publication of ports.publications.pending()) {
    const { workflowId, version, createdAt, handedOver = { times: 0, at: createdAt } } = publication;
    if (!isLost(ports, handedOver)) continue;
    // Records the attempt first, so that a publication that cannot be put into the queue does not block the others at
    // the next sweep.
    await ports.publications.recordHandOver({ workflowId, version }, nextHandOver(ports, handedOver));
    await handOver(ports, { workflowId, version });
    again.push({ workflowId, version });
  }
  return again;
}

/**
 * If a crashed process changed only a part of a workflow's triggers, hands the triggers to the publisher, which has the
 * rights to settle them. To settle triggers twice is harmless. If the triggers of a workflow cannot be settled, the
 * sweeper hands them over less and less often, so that they delay no publication.
 */
export async function sweepTriggers(ports: ServicePorts): Promise<void> {
  for await (const { workflowId, touched, handedOver } of ports.workflowStates.unsettled()) {
    if (handedOver && !isLost(ports, handedOver)) continue;
    await ports.workflowStates.recordHandOver(workflowId, nextHandOver(ports, handedOver));
    await handOver(ports, { workflowId, version: Math.max(...touched) });
  }
}
