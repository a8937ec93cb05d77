import { type Approvers, isNamedPerson, nodeIndex, starterMark, type Workflow } from "@nova/workflow";
import { contentOrNull, headOf } from "../../chain/entry.ts";
import { readPosition } from "../../chain/position.ts";
import { recoverFrom } from "../../errors.ts";
import type { EntryId } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import { isSamePerson, type NamedPerson, namedPerson, type Person } from "../../ports/people.ts";
import type { VoterClaim, WaitingTask } from "../../ports/tasks.ts";
import { findOpenedFork, opensFork } from "../../protocol/branches.ts";
import { putBallot, readVotes, type Votes } from "./votes.ts";

/**
 * Thrown for a person who may not answer an approval. The message says why, and what to do. NOVA has written no vote.
 */
export class ApproverRefused extends Error {
  override name = "ApproverRefused";
}

type Asked = Pick<WaitingTask, "node" | "execution" | "workflowId" | "version">;

/** The approvers of an approval, and the votes so far. */
interface Voting {
  approvers: Approvers;
  votes: Votes;
}

/** Returns the person. Throws `ApproverRefused` if NOVA has not proved who the person is. */
export function demandPerson({ node }: Pick<Asked, "node">, person: Person | undefined): Person {
  if (person) return person;
  const message = `"${node}" takes answers only from people whose identity NOVA can prove, and this key names none - use the key of a person (nova keys create --identity), or sign in`;
  throw new ApproverRefused(message);
}

/** Throws `ApproverRefused` if the person may not answer the approval. */
export async function demandApprover(ports: Ports, task: Asked, { approvers, votes }: Voting, person: Person) {
  const { name } = person;
  const own = votes.delegations.find(({ by }) => isSamePerson(by, person));
  if (own) {
    const message = `${name} has delegated "${task.node}" to ${own.to}, who has to answer - withdraw the delegation to answer in person`;
    throw new ApproverRefused(message);
  }
  const isDelegate = votes.delegations.some(({ to }) => person.ids.includes(to));
  if (!isNamed(approvers, person) && !isDelegate) {
    throw new ApproverRefused(`${name} may not answer "${task.node}" - its approvers are ${approvers.any.join(", ")}`);
  }
  await demandNotExcluded(ports, task, approvers, person);
}

function isNamed({ any }: Pick<Approvers, "any">, { ids, roles, groups }: Person): boolean {
  return any.some((approver) => {
    if (isNamedPerson(approver)) return ids.includes(approver);
    const [kind, name] = [approver.slice(0, approver.indexOf(":")), approver.slice(approver.indexOf(":") + 1)];
    return (kind === "role" ? roles : groups).includes(name);
  });
}

/**
 * Whether a person's list of tasks shows this task. This check does not read the chain; only the check of a vote does.
 */
export function mayConcern({ approvers, delegates = [] }: WaitingTask, person: Person): boolean {
  return approvers !== undefined && (isNamed(approvers, person) || delegates.some((to) => person.ids.includes(to)));
}

/** Throws `ApproverRefused` for a delegation to a person who may answer already, or who must not answer. */
export async function demandDelegate(ports: Ports, task: Asked, { approvers, votes }: Voting, to: string) {
  if (approvers.any.includes(to) || votes.delegations.some((one) => one.to === to))
    throw new ApproverRefused(`${to} may answer "${task.node}" already - delegate to another person`);
  await demandNotExcluded(ports, task, approvers, { name: to, ids: [to] });
}

type Known = Pick<NamedPerson, "name" | "ids">;

/** Throws `ApproverRefused` for a person whom the list `not` of the approval excludes. */
async function demandNotExcluded(ports: Ports, task: Asked, { not }: Approvers, person: Known): Promise<void> {
  const isMe = (other: NamedPerson) => isSamePerson(other, person);
  if (not.includes(starterMark) && (await startersOf(ports, task.execution)).some(isMe))
    throw new ApproverRefused(
      `${person.name} started this run and may not answer "${task.node}" - another approver has to`,
    );
  for (const node of not.filter((one) => one !== starterMark)) {
    if (!(await votersOn(ports, task, node)).some(isMe)) continue;
    throw new ApproverRefused(
      `${person.name} has answered "${node}" and may not answer "${task.node}" - another approver has to`,
    );
  }
}

/** Returns whether the list `not` of the approval excludes the owner of a mail address. */
export async function isExcluded(ports: Ports, task: Asked, approvers: Approvers, mail: string): Promise<boolean> {
  return demandNotExcluded(ports, task, approvers, { name: mail, ids: [mail] }).then(
    () => false,
    recoverFrom(ApproverRefused, () => true),
  );
}

/**
 * Finds the people who started this run, the runs around this run, and the runs that it restarts. The list is empty for
 * a run that a trigger or a key without an identity started.
 */
async function startersOf(ports: Pick<Ports, "chain" | "blobs">, execution: string): Promise<NamedPerson[]> {
  const found: NamedPerson[] = [];
  const executions = new Set([execution]);
  for (const id of executions) {
    const { entry } = await ports.chain.read({ execution: id, scope: "", seq: 0 });
    if (!entry) continue;
    const head = headOf(entry);
    const text = await contentOrNull(ports, entry, head, "starter");
    if (text !== null) found.push(JSON.parse(text) as NamedPerson);
    else if (head.digests.starter !== undefined) throw erased(`who started ${id}`);
    for (const other of [head.parent?.execution, head.plan?.after]) if (other !== undefined) executions.add(other);
  }
  return found;
}

/**
 * Finds the people whose votes on a node of the run count, over all visits of the node. For a restart, this function
 * also reads the votes whose outcomes the restart reuses.
 */
async function votersOn(ports: Ports, task: Asked, id: string): Promise<NamedPerson[]> {
  const { execution } = task;
  const version = await ports.workflows.get(task.workflowId, task.version);
  const node = version && nodeIndex(version.workflow).get(id)?.node;
  if (node?.type !== "approval") return [];
  const tasks = (await ports.tasks.ofExecution(execution)).filter((one) => one.node === id);
  const places: EntryId[] = [...tasks, ...(await reusedPlaces(ports, execution, id))];
  const found: NamedPerson[] = [];
  for (const { execution, scope, seq } of places) {
    const votes = await readVotes(ports, { execution, scope, seq }, node);
    if (votes.isErased) throw erased(`who answered "${id}"`);
    found.push(...votes.standing.map(({ by }) => by));
  }
  return found;
}

/**
 * Finds the entries of earlier runs whose answers this run reuses for a node. Only a run with a plan reuses answers.
 */
async function reusedPlaces(ports: Ports, execution: string, id: string): Promise<EntryId[]> {
  const { entry } = await ports.chain.read({ execution, scope: "", seq: 0 });
  return entry && headOf(entry).plan ? Array.fromAsync(reusedIn(ports, { execution, scope: "" }, id)) : [];
}

async function* reusedIn(
  ports: Ports,
  { execution, scope }: Omit<EntryId, "seq">,
  id: string,
): AsyncGenerator<EntryId> {
  for await (const { entry } of ports.chain.links(execution, scope)) {
    if (!entry) continue;
    const head = headOf(entry);
    if (head.node_id === id && head.reused_from) yield head.reused_from;
    const fork = opensFork(head) ? await findOpenedFork(ports, entry) : null;
    for (const branch of fork?.branches ?? []) yield* reusedIn(ports, { execution, scope: branch.scope }, id);
  }
}

function erased(what: string): ApproverRefused {
  return new ApproverRefused(`NOVA cannot tell ${what}, because it was erased - start a new run`);
}

/** An approval on which a person is about to vote. `workflow` says which approvals exclude the voters of each other. */
export interface Exclusive {
  task: WaitingTask;
  workflow: Workflow;
  person: Person;
  /**
   * The number of the last entry that the caller has read in the votes. The caller puts the vote directly after this
   * entry.
   */
  after: number;
}

/**
 * If a process has made a claim and writes no vote within this time, it counts as dead. If the process is only slow,
 * its vote fails, because another ballot already has the number of that entry.
 */
const diedAfterMs = 10_000;

/**
 * Claims the approval for a person before the caller puts the vote. So the person cannot vote at the same instant on
 * two approvals that exclude each other. Each approval has its own chain of votes, so the write of a vote on one
 * approval does not notice a vote on the other. All claims of a person are in one item, and the first process that
 * changes this item wins. Call this function after you read the votes, and before you put a vote. Throws
 * `ApproverRefused` if the person has voted, or may be about to vote, on such another approval.
 */
export async function claimVote(ports: Ports, exclusive: Exclusive): Promise<void> {
  const rivals = rivalsOf(exclusive);
  if (rivals.size === 0) return;
  const { task, person } = exclusive;
  const { execution, scope, seq, node } = task;
  for (const id of person.ids) {
    for (;;) {
      const { version, claims } = await ports.tasks.voter(execution, id);
      const [own, others] = [claims.filter((claim) => isAt(claim, task)), claims.filter((claim) => !isAt(claim, task))];
      for (const claim of others) await demandNoVote(ports, exclusive, claim, rivals.get(claim.node));
      const after = Math.max(exclusive.after, ...own.map((claim) => claim.after));
      const claim: VoterClaim = { node, scope, seq, after, at: new Date(ports.clock.now()).toISOString() };
      const kept = others.filter((other) => !rivals.has(other.node));
      if (await ports.tasks.putVoter(task, id, { version, claims: [...kept, claim] })) break;
    }
  }
}

/**
 * Throws `ApproverRefused` if the person has voted on the approval of a claim, or if a process may still put a vote
 * with this claim. The vote of a claim can only be the entry directly after `after`, so any other ballot in that entry
 * prevents the vote. If the process of the claim has died, this function writes such a ballot.
 */
async function demandNoVote(ports: Ports, exclusive: Exclusive, claim: VoterClaim, approvers: Approvers | undefined) {
  if (!approvers) return;
  const { task, person } = exclusive;
  const { node: id, scope, seq } = claim;
  const place = { execution: task.execution, scope, seq };
  const [other, refused] = [`or let another approver answer`, `and may not answer "${task.node}"`];
  for (;;) {
    const votes = await readVotes(ports, place, { id, approvers });
    if (votes.standing.some(({ by }) => isSamePerson(by, person)))
      throw new ApproverRefused(`${person.name} votes on "${id}" ${refused} - withdraw there first, ${other}`);
    if (votes.isOver || (votes.tip?.seq ?? 0) > claim.after) return;
    const now = ports.clock.now();
    if (now < Date.parse(claim.at) + diedAfterMs)
      throw new ApproverRefused(
        `${person.name} votes on "${id}" right now ${refused} - ask again in a minute, ${other}`,
      );
    const by = namedPerson(person);
    const from = `a vote on "${task.node}"`;
    const ballot = { kind: "withdrawal" as const, by, at: new Date(now).toISOString(), from };
    await putBallot(ports, await readPosition(ports, place), { id }, votes, { ballot, isLast: false });
  }
}

/**
 * Finds the other approvals for which both is true: they exclude the voters of this approval, and this approval
 * excludes their voters. If only one of two approvals excludes the voters of the other approval, a person may vote on
 * both approvals in one order.
 */
function rivalsOf({ task, workflow }: Exclusive): Map<string, Approvers> {
  const approversOf = (id: string) => {
    const node = nodeIndex(workflow).get(id)?.node;
    return node?.type === "approval" ? node.approvers : undefined;
  };
  const rivals = new Map<string, Approvers>();
  for (const id of approversOf(task.node)?.not ?? []) {
    const approvers = approversOf(id);
    if (approvers?.not.includes(task.node)) rivals.set(id, approvers);
  }
  return rivals;
}

function isAt(claim: VoterClaim, { scope, seq }: Pick<WaitingTask, "scope" | "seq">): boolean {
  return claim.scope === scope && claim.seq === seq;
}
