import { nodeIndex } from "@nova/workflow";
import type { Ports } from "../../ports/index.ts";
import { isSamePerson, type Person } from "../../ports/people.ts";
import type { WaitingTask } from "../../ports/tasks.ts";
import { demandOwnBallot, votedBefore } from "./cast-vote.ts";
import { ApproverRefused, demandApprover, demandPerson } from "./check-approver.ts";
import { type Delegation, missingVotes, readVotes, type Vote } from "./votes.ts";
import { AnswerRefused } from "./waiting-task.ts";

/** The votes on an approval with approvers, and whether a person may vote now. */
export interface Voting {
  /** The votes that count, oldest first. */
  standing: Vote[];
  delegations: Delegation[];
  /** How many further people must make each choice. */
  missing: { choice: string; count: number }[];
  /** The name of the caller, as NOVA has proved it. Null: NOVA has proved no name. */
  caller: string | null;
  /** Why the caller may not vote and not delegate: one sentence. Null: the caller may. */
  refusal: string | null;
  /** Why the caller has nothing to withdraw: one sentence. Null: the caller may withdraw. */
  withdrawalRefusal: string | null;
}

/** Reads the votes on a task. Null if its approval has no approvers. */
export async function readVoting(ports: Ports, task: WaitingTask, person: Person | undefined): Promise<Voting | null> {
  const version = await ports.workflows.get(task.workflowId, task.version);
  const node = version && nodeIndex(version.workflow).get(task.node)?.node;
  if (node?.type !== "approval" || !node.approvers) return null;
  const { approvers } = node;
  const votes = await readVotes(ports, task, node);
  const { standing, delegations } = votes;
  const missing = task.choices.map((choice) => ({ choice, count: missingVotes(votes, choice, approvers.count) }));
  const refusal = await refusalOf(async () => {
    const known = demandPerson(task, person);
    const earlier = standing.find(({ by }) => isSamePerson(by, known));
    if (earlier) throw votedBefore(task, earlier);
    await demandApprover(ports, task, approvers, votes, known);
  });
  const withdrawalRefusal = await refusalOf(async () => demandOwnBallot(task, votes, demandPerson(task, person)));
  return { standing, delegations, missing, caller: person?.name ?? null, refusal, withdrawalRefusal };
}

/** Returns the sentence with which `demand` refuses; null if it does not refuse. */
async function refusalOf(demand: () => Promise<void>): Promise<string | null> {
  try {
    await demand();
    return null;
  } catch (error) {
    if (error instanceof ApproverRefused || error instanceof AnswerRefused) return error.message;
    throw error;
  }
}
