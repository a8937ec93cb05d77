import { createHash } from "node:crypto";
import { forksOf, nodeIndex, type Workflow } from "@nova/workflow";
import { decodeTime } from "ulid";
import { headOf } from "../../chain/head.ts";
import { ulidFrom } from "../../chain/link-name.ts";
import type { Position } from "../../chain/position.ts";
import { branchOf, isItem } from "../../chain/scope.ts";
import { sha256 } from "../../json/text.ts";
import type { LinkId } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import type { ResumeLink } from "../../ports/tasks.ts";
import { isWaitingNode } from "./waiting-node.ts";

/** One visit of a wait. */
type Visit = Pick<ResumeLink, "execution" | "scope" | "node" | "visit">;

/** What a token looks like in any text: nobody has to know it to mask it. The first part names the execution. */
const tokenPattern = /^nova_rt_([0-9A-HJKMNP-TV-Z]{26})[\w-]{43}$/;

/** The execution that a token is for; undefined for what is no token. */
export function executionOfToken(token: string): string | undefined {
  const [, execution] = tokenPattern.exec(token) ?? [];
  return execution && `exec_${execution}`;
}

/** `tasks[node].url`: where the next visit of a wait goes on, or null. Throws `NodeFailed` without an API. */
export async function resumeUrl(ports: Ports, { before, at }: Position, node: string): Promise<string | null> {
  const version = await ports.workflows.get(before.workflow_id, before.workflow_version);
  const found = version && nodeIndex(version.workflow).get(node)?.node;
  if (!version || found?.type !== "wait" || !isWaitingNode(found)) return null;
  const level = levelOf(version.workflow, at, node);
  if (!level) return null;
  const { execution, scope } = level;
  const visit = { execution, scope, node, visit: await visitsBefore(ports, level, node) };
  const [id, token] = [idOf(visit), await tokenOf(ports, visit)];
  const url = ports.links.toResume(id, token);
  const createdAt = new Date(ports.clock.now()).toISOString();
  const link = { format: 1, id, ...visit, client: before.client, tokenHash: sha256(token), createdAt } as const;
  await ports.resumeLinks.create(link);
  return url;
}

/** The link that was handed out for the visit that begins at a link of the chain, if there is one. */
export async function linkOfVisit(ports: Ports, at: LinkId, node: string): Promise<ResumeLink | undefined> {
  const all = await ports.resumeLinks.ofExecution(at.execution);
  const own = all.filter((link) => link.node === node && link.scope === at.scope);
  if (own.length === 0) return undefined;
  const visit = await visitsBefore(ports, at, node);
  return own.find((link) => link.visit === visit);
}

/** Where a node of the same branch stands, or of one around it: the scope, and a link that its next visit is not before. */
function levelOf(workflow: Workflow, at: LinkId, node: string): LinkId | undefined {
  const place = branchOf(at.scope);
  const branches = place && (forksOf(workflow).get(place.fork)?.branches ?? []);
  const branch = branches?.find(({ entry }, index) =>
    isItem(place?.branch ?? "") ? index === 0 : entry === place?.branch,
  );
  const isHere = place ? branch?.nodes.includes(node) : !isInBranch(workflow, node);
  if (isHere) return at;
  return place ? levelOf(workflow, { ...at, scope: place.parent, seq: place.seq + 1 }, node) : undefined;
}

function isInBranch(workflow: Workflow, node: string): boolean {
  return [...forksOf(workflow).values()].some(({ branches }) => branches.some(({ nodes }) => nodes.includes(node)));
}

async function visitsBefore({ chain }: Ports, at: LinkId, node: string): Promise<number> {
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

function idOf(visit: Visit): string {
  return `task_${ulidFrom(decodeTime(ulidOf(visit.execution)), nameOf(visit))}`;
}

/** Nobody else can make it, and it tells nothing of what else is signed. */
async function tokenOf({ signer }: Ports, visit: Visit): Promise<string> {
  const signature = await signer.sign(`resume link ${sha256(nameOf(visit))}`);
  return `nova_rt_${ulidOf(visit.execution)}${createHash("sha256").update(signature).digest("base64url")}`;
}

function ulidOf(execution: string): string {
  return execution.slice("exec_".length);
}
