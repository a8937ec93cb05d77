import { type Approvers, nodeIndex, type Workflow } from "@nova/workflow";
import { readPosition } from "../../chain/position.ts";
import type { Ports } from "../../ports/index.ts";
import { isSamePerson, namedPerson, type Person } from "../../ports/people.ts";
import type { VoterClaim, WaitingTask } from "../../ports/tasks.ts";
import { ApproverRefused } from "./check-approver.ts";
import { putBallot, readVotes } from "./votes.ts";

/** An approval on which a person votes, with the approvals that exclude its voters and whose voters it excludes. */
export interface Exclusive {
  task: WaitingTask;
  workflow: Workflow;
  person: Person;
  /** The number of the last entry of the votes that were read. The vote is put after it. */
  after: number;
}

/** A process puts its vote much sooner after its claim. A wrong guess is safe: the vote of a slow process finds a ballot. */
const diedAfterMs = 10_000;

/**
 * Claims the approval for a person before the caller puts the vote, so that the person cannot vote at the same instant
 * on two approvals that exclude each other. Each has its own chain of votes, so the condition of a vote on one does not
 * see the other. The claims of a person are one item, and the first process that changes it wins. Call it after reading
 * the votes, and before putting a vote after them. Throws `ApproverRefused`.
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
 * Throws `ApproverRefused` unless the person has no vote at a claim, and no process can put one with this claim. The
 * vote of a claim has one place, after the entry `after`: any other ballot at this place makes it impossible. For a claim
 * of a process that died, this function writes that ballot.
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
 * The approvals whose voters this approval excludes, and which exclude the voters of this approval. If only one of two
 * approvals excludes the voters of the other, a person may vote on both in one order.
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
