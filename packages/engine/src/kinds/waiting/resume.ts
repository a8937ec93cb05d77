import { createHash } from "node:crypto";
import { forksOf, nodeIndex, type Workflow } from "@nova/workflow";
import { decodeTime } from "ulid";
import { headOf } from "../../chain/entry.ts";
import { branchOf, isItem, ulidFrom } from "../../chain/ids.ts";
import type { Position } from "../../chain/position.ts";
import { slimText } from "../../context/references.ts";
import type { EntryId } from "../../ports/chain.ts";
import type { Execution } from "../../ports/executions.ts";
import type { Ports } from "../../ports/index.ts";
import type { ResumeLink, WaitingTask } from "../../ports/tasks.ts";
import { sha256 } from "../../sha256.ts";
import { handOver } from "./answer.ts";
import { AnswerRefused, isWaitingNode, runIsOver } from "./waiting-task.ts";

export class WaitOver extends Error {
  override name = "WaitOver";
}

/**
 * Handles the one call that a resume link allows. This function stores the body of the call before it looks for the
 * wait. If the process dies, a repeated call completes the lost steps. Returns false if the run has not reached the
 * wait yet. Throws `AnswerRefused` for a call with another body, and `WaitOver` if the wait or its run is over.
 */
export async function callLink(ports: Ports, link: ResumeLink, record: Execution, text: string): Promise<boolean> {
  const body = await slimText(ports, record, text);
  const at = new Date(ports.clock.now()).toISOString();
  const task = await taskOf(ports, link);
  if (link.body === undefined) {
    if (!record.open) throw new WaitOver(runIsOver({ execution: record.id }).message);
    if (task && (isOver(task) || Date.parse(task.expiresAt) <= ports.clock.now())) throw waitIsOver(task);
    // If this process dies after this step, the sweeper ends the wait with the stored body, or opens the task again if
    // no body was stored.
    if (task) await ports.tasks.move(task, ["open"], "answered", at);
    if (!(await ports.resumeLinks.call(link, body, at))) throw usedBefore(link);
  } else if (link.body !== body) throw usedBefore(link);
  const waiting = task ?? (await taskOf(ports, link));
  if (!waiting || isOver(waiting)) return waiting !== undefined;
  if (await handOver(ports, waiting, async () => body)) return true;
  throw waitIsOver(waiting);
}

/**
 * Ends the wait of a task with the stored call of its resume link. This is necessary if the call arrived before the
 * task existed, or if the process that handled the call died. Returns false if there was no call.
 */
export async function takeCalled(ports: Ports, task: WaitingTask): Promise<boolean> {
  const { execution, link: id } = task;
  const link = id === undefined ? undefined : await ports.resumeLinks.get({ execution, id });
  if (link?.body === undefined) return false;
  const { body } = link;
  await handOver(ports, task, async () => body);
  return true;
}

async function taskOf({ tasks }: Ports, { execution, id }: ResumeLink): Promise<WaitingTask | undefined> {
  return (await tasks.ofExecution(execution)).find(({ link }) => link === id);
}

function isOver({ status }: WaitingTask): boolean {
  return status === "sent" || status === "expired";
}

function waitIsOver({ node, execution }: WaitingTask): WaitOver {
  return new WaitOver(`"${node}" waits no longer - nova trace ${execution} shows what followed`);
}

function usedBefore({ node }: ResumeLink): AnswerRefused {
  return new AnswerRefused(`the link to "${node}" was used before - it is good for one call`);
}

type Visit = Pick<ResumeLink, "execution" | "scope" | "node" | "visit">;

/** Matches the token in a resume link. Its first part is the ULID of the execution. */
const tokenPattern = /^nova_rt_([0-9A-HJKMNP-TV-Z]{26})[\w-]{43}$/;

export function executionOfToken(token: string): string | undefined {
  const [, execution] = tokenPattern.exec(token) ?? [];
  return execution && `exec_${execution}`;
}

/**
 * Returns `tasks[node].url`: the address that ends the next visit of a wait; null if the node is no wait for an event.
 * Throws `NodeFailed` if NOVA does not know the address of its API.
 */
export async function resumeUrl(ports: Ports, { before, at }: Position, node: string): Promise<string | null> {
  const version = await ports.workflows.get(before.workflow_id, before.workflow_version);
  const found = version && nodeIndex(version.workflow).get(node)?.node;
  if (!version || found?.type !== "wait" || !isWaitingNode(found)) return null;
  const level = levelOf(version.workflow, at, node);
  if (!level) return null;
  const { execution, scope } = level;
  const visit = { execution, scope, node, visit: await visitsBefore(ports, level, node) };
  const id = `task_${ulidFrom(decodeTime(ulidOf(execution)), nameOf(visit))}`;
  const token = await tokenOf(ports, visit);
  const url = ports.links.toResume(id, token);
  const createdAt = new Date(ports.clock.now()).toISOString();
  const link = { format: 1, id, ...visit, client: before.client, tokenHash: sha256(token), createdAt } as const;
  await ports.resumeLinks.create(link);
  return url;
}

/** Returns the resume link for the visit of a node whose entry has this id; undefined if NOVA has issued none. */
export async function linkOfVisit(ports: Ports, at: EntryId, node: string): Promise<ResumeLink | undefined> {
  const all = await ports.resumeLinks.ofExecution(at.execution);
  const own = all.filter((link) => link.node === node && link.scope === at.scope);
  if (own.length === 0) return undefined;
  const visit = await visitsBefore(ports, at, node);
  return own.find((link) => link.visit === visit);
}

/**
 * Finds the scope of a node: the scope of `at`, or a scope around it. The entry of the next visit of the node has the
 * returned number or a higher number.
 */
function levelOf(workflow: Workflow, at: EntryId, node: string): EntryId | undefined {
  const place = branchOf(at.scope);
  const branches = (place && forksOf(workflow).get(place.fork)?.branches) ?? [];
  const within = place && isItem(place.branch) ? branches : branches.filter(({ entry }) => entry === place?.branch);
  const all = [...forksOf(workflow).values()].flatMap(({ branches }) => branches.flatMap(({ nodes }) => nodes));
  const isHere = place ? within.some(({ nodes }) => nodes.includes(node)) : !all.includes(node);
  if (isHere) return at;
  return place ? levelOf(workflow, { ...at, scope: place.parent, seq: place.seq + 1 }, node) : undefined;
}

async function visitsBefore({ chain }: Ports, at: EntryId, node: string): Promise<number> {
  let visits = 0;
  for await (const { seq, entry } of chain.links(at.execution, at.scope)) {
    if (seq >= at.seq) break;
    if (entry && headOf(entry).node_id === node) visits++;
  }
  return visits;
}

function nameOf({ execution, scope, node, visit }: Visit): string {
  return JSON.stringify([execution, scope, node, visit]);
}

/**
 * Derives the token of a resume link from a signature, so that only the owner of the signing key can compute it. The
 * token is a hash, so it does not reveal the signature.
 */
async function tokenOf({ signer }: Ports, visit: Visit): Promise<string> {
  const signature = await signer.sign(`resume link ${sha256(nameOf(visit))}`);
  return `nova_rt_${ulidOf(visit.execution)}${createHash("sha256").update(signature).digest("base64url")}`;
}

function ulidOf(execution: string): string {
  return execution.slice("exec_".length);
}
