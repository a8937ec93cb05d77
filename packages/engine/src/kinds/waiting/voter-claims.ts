import { type Approvers, nodeIndex, type Workflow } from "@nova/workflow";
import { readPosition } from "../../chain/position.ts";
import type { Ports } from "../../ports/index.ts";
import { isSamePerson, namedPerson, type Person } from "../../ports/people.ts";
import type { VoterClaim, WaitingTask } from "../../ports/tasks.ts";
import { ApproverRefused } from "./check-approver.ts";
import { putBallot, readVotes } from "./votes.ts";

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
 * After this time without a vote, a process that made a claim counts as dead. If the process is only slow, its vote
 * fails, because another ballot already has the number of that entry.
 */
const diedAfterMs = 10_000;

/**
 * Claims the approval for a person before the caller puts the vote, so that the person cannot vote at the same instant
 * on two approvals that exclude each other. Each approval has its own chain of votes, so the write of a vote on one
 * approval does not notice a vote on the other. All claims of a person are in one item, and the first process that
 * changes this item wins. Call this function after you read the votes, and before you put a vote. Throws
 * `ApproverRefused`.
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
 * Finds the approvals that exclude the voters of this approval, and whose voters this approval excludes. If only one of
 * two approvals excludes the voters of the other, a person may vote on both in one order.
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
