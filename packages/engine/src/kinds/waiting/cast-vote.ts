import { type ApprovalNode, type Approvers, defined, nodeIndex } from "@nova/workflow";
import { headOf } from "../../chain/entry.ts";
import { type Position, readPosition } from "../../chain/position.ts";
import { slimText } from "../../context/references.ts";
import { recoverFrom, StoreUnavailable } from "../../errors.ts";
import type { Ports } from "../../ports/index.ts";
import { isSamePerson, namedPerson, type Person } from "../../ports/people.ts";
import type { WaitingTask } from "../../ports/tasks.ts";
import { commitOutcome } from "../../protocol/commit.ts";
import { definitionOf, followChoice, type NodeDefinition } from "../../protocol/definition.ts";
import { eventOf } from "../../protocol/event.ts";
import { refreshStatus } from "../../protocol/record.ts";
import { ApproverRefused, claimVote, demandApprover, demandDelegate, demandPerson } from "./check-approver.ts";
import { demandUnusedLink, requestLink, takesNoVotes } from "./vote-links.ts";
import {
  type Ballot,
  type Delegation,
  decidedOutcome,
  missingVotes,
  putBallot,
  readVotes,
  type Vote,
  type Votes,
} from "./votes.ts";
import {
  type Answer,
  AnswerRefused,
  findTask,
  fittingData,
  noChoice,
  type TaskName,
  trySendAnswer,
  type Waiting,
  waitingAt,
} from "./waiting-task.ts";

/** An approval that waits for votes, with the votes so far. */
interface OpenVote extends Waiting {
  node: ApprovalNode;
  approvers: Approvers;
  votes: Votes;
}

const longestName = 200;

/**
 * Writes a vote as an entry of the approval's inner scope. If a choice then has enough votes, the vote decides: this
 * function writes the approval's own entry, and the run continues. Throws `ApproverRefused`, `AnswerMisfit`,
 * `AnswerRefused` before it writes the vote.
 */
export async function castVote(ports: Ports, task: WaitingTask, request: Omit<Answer, "by">) {
  const { choice, from, claimed } = request;
  for (;;) {
    const voting = await votingAt(ports, task);
    const { approvers, votes, position } = voting;
    const person = demandPerson(task, request.person);
    demandUnusedLink(task, votes, person);
    await demandApprover(ports, task, voting, person);
    const earlier = votes.standing.find(({ by }) => isSamePerson(by, person));
    if (earlier) throw votedBefore(task, earlier);
    if (!task.choices.includes(choice) || !followChoice(voting, choice, position.before.loops))
      throw noChoice(task, choice);
    const data = await slimText(ports, position.before, await fittingData(task, request));
    const at = new Date(ports.clock.now()).toISOString();
    const ballot: Vote = {
      kind: "vote",
      choice,
      data,
      by: namedPerson(person),
      at,
      from: from.slice(0, longestName),
      ...defined({ claimed: claimed?.slice(0, longestName) }),
    };
    await claimVote(ports, { task, workflow: voting.version.workflow, person, after: votes.tip?.seq ?? 0 });
    const missing = missingVotes(votes, choice, approvers.count) - 1;
    const isLast = missing <= 0;
    // The sweeper looks at answered tasks. So it finds this task if the process dies after the decisive vote.
    if (isLast) await ports.tasks.move(task, ["open", "answered"], "answered", at);
    if (!(await putBallot(ports, position, voting.node, votes, { ballot, isLast }))) continue;
    const sent = isLast && ((await finishVotes(ports, task))?.sent ?? false);
    if (!isLast) await followUp(ports, task, person);
    return { task, at, sent, missing };
  }
}

/** Builds the error that refuses the second vote of a person. */
export function votedBefore({ node }: WaitingTask, { by, choice, at }: Vote): AnswerRefused {
  return new AnswerRefused(`${by.name} has voted "${choice}" on "${node}" at ${at} - withdraw that vote to change it`);
}

export interface TaskCall {
  person: Person | undefined;
  from: string;
}

/**
 * Takes back the vote or the delegation of a person. This is possible until a choice has enough votes. Throws
 * `ApproverRefused`, `AnswerRefused` before it writes.
 */
export async function withdrawVote(ports: Ports, name: TaskName, call: TaskCall) {
  return writeBallot(ports, name, call, async ({ task, votes }, person, common) => {
    demandOwnBallot(task, votes, person);
    return { kind: "withdrawal", ...common };
  });
}

/** Throws `AnswerRefused` if the person has no vote and no delegation to take back. */
export function demandOwnBallot({ node }: WaitingTask, { standing, delegations }: Votes, person: Person): void {
  const isOwn = ({ by }: Vote | Delegation) => isSamePerson(by, person);
  const delegation = delegations.find(isOwn);
  if (!standing.some(isOwn) && !delegation)
    throw new AnswerRefused(`${person.name} has no vote on "${node}" to withdraw - vote first`);
  const voted = delegation && standing.find(({ by }) => by.ids.includes(delegation.to));
  if (voted)
    throw new AnswerRefused(`${voted.by.name} has voted for ${person.name} - ask ${voted.by.name} to withdraw first`);
}

/**
 * Lets another person vote instead of an approver, and mails that person a link. A repeated delegation only mails the
 * link. Throws `ApproverRefused`, `AnswerRefused` before it writes.
 */
export async function delegateVote(ports: Ports, name: TaskName, call: TaskCall & { to: string }) {
  const to = call.to.toLowerCase();
  const delegated = await writeBallot(ports, name, call, async (voting, person, common) => {
    const { task, votes } = voting;
    const own = votes.delegations.find(({ by }) => isSamePerson(by, person));
    if (own?.to === to) return null;
    await demandApprover(ports, task, voting, person);
    const earlier = votes.standing.find(({ by }) => isSamePerson(by, person));
    if (earlier) throw votedBefore(task, earlier);
    await demandDelegate(ports, task, voting, to);
    return { kind: "delegation", ...common, to };
  });
  const { task } = delegated;
  const { delegations } = await readVotes(ports, task, { id: task.node, approvers: task.approvers });
  await ports.tasks.noteDelegates(
    task,
    delegations.map((one) => one.to),
  );
  await requestLink(ports, task, to);
  return delegated;
}

type Common = Pick<Vote, "by" | "at" | "from">;

async function writeBallot(
  ports: Ports,
  name: TaskName,
  { person: caller, from }: TaskCall,
  /** Returns null if there is nothing to write. */
  build: (voting: OpenVote, person: Person, common: Common) => Promise<Ballot | null>,
) {
  const task = await findTask(ports, name);
  for (;;) {
    const voting = await votingAt(ports, task);
    const person = demandPerson(task, caller);
    demandUnusedLink(task, voting.votes, person);
    const at = new Date(ports.clock.now()).toISOString();
    const ballot = await build(voting, person, { by: namedPerson(person), at, from: from.slice(0, longestName) });
    if (ballot === null) return { task, at };
    if (await putBallot(ports, voting.position, voting.node, voting.votes, { ballot, isLast: false })) {
      await followUp(ports, task, person);
      return { task, at };
    }
  }
}

/**
 * Requests a new link for a person who has just used a link, because the person needs the new link to change the
 * ballot. If the event bus does not respond, the ballot still counts.
 */
async function followUp(ports: Ports, task: WaitingTask, { name, via }: Person): Promise<void> {
  if (via.kind !== "mail") return;
  await requestLink(ports, task, name).catch(recoverFrom(StoreUnavailable, () => undefined));
}

/** Reads an approval that waits for votes. Throws `AnswerRefused` if it has no approvers or no longer waits. */
async function votingAt(ports: Ports, task: WaitingTask): Promise<OpenVote> {
  for (;;) {
    const waiting = await waitingAt(ports, task);
    const { node, position } = waiting;
    if (node.type !== "approval" || !node.approvers)
      throw new AnswerRefused(
        `"${task.node}" has no approvers and takes no votes - nova approve ${task.id} answers it`,
      );
    const votes = await readVotes(ports, position.at, node);
    if (!votes.isOver) return { ...waiting, node, approvers: node.approvers, votes };
    // The process that wrote the decisive vote may have died. Then this process writes the approval's entry, and
    // `waitingAt` throws an error that names the decision.
    if (!votes.decisive || !(await finishVotes(ports, task))) throw takesNoVotes(task);
  }
}

/**
 * Writes the entry of an approval that votes have decided, and sends the answer to Step Functions. Returns undefined if
 * no vote has decided.
 */
export async function finishVotes(ports: Ports, task: WaitingTask): Promise<{ sent: boolean } | undefined> {
  const { execution, scope, seq } = task;
  const definition = await definitionOf(ports, eventOf(task));
  const { node } = definition;
  const position = await readPosition(ports, { execution, scope, seq });
  if (node.type !== "approval") return undefined;
  const entry = position.next.entry ?? (await commitDecision(ports, { ...definition, node }, position));
  const head = entry && headOf(entry);
  if (!entry || head?.node_id !== node.id || head.status !== "success") return undefined;
  const sent = await trySendAnswer(ports, task, entry);
  await refreshStatus(ports, execution);
  return { sent };
}

async function commitDecision(ports: Ports, definition: NodeDefinition<ApprovalNode>, position: Position) {
  const votes = await readVotes(ports, position.at, definition.node);
  const outcome = decidedOutcome(ports, definition, position, votes);
  return outcome && commitOutcome(ports, position, definition.node, outcome);
}

/** The votes on an approval with approvers, and whether a person may vote now. */
export interface Voting {
  /** The votes that count, oldest first. */
  standing: Vote[];
  delegations: Delegation[];
  /** How many further people must make each choice. */
  missing: { choice: string; count: number }[];
  /** The name of the caller, as NOVA has proved it. Null: NOVA has proved no name. */
  caller: string | null;
  /** The sentence that says why the caller must not vote or delegate. Null: the caller may vote and delegate. */
  refusal: string | null;
  /**
   * The sentence that says why the caller has nothing to withdraw. Null: the caller may withdraw a vote or a
   * delegation.
   */
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
    await demandApprover(ports, task, { approvers, votes }, known);
  });
  const withdrawalRefusal = await refusalOf(async () => demandOwnBallot(task, votes, demandPerson(task, person)));
  return { standing, delegations, missing, caller: person?.name ?? null, refusal, withdrawalRefusal };
}

/** Runs `demand` and returns the message of its refusal; null if `demand` does not refuse. */
async function refusalOf(demand: () => Promise<void>): Promise<string | null> {
  return demand().then(
    () => null,
    recoverFrom([ApproverRefused, AnswerRefused], ({ message }) => message),
  );
}
