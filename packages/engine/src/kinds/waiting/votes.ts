import { type ApprovalNode, type Approvers, membersOf } from "@nova/workflow";
import { type BranchTip, contentText, type Head, headOf, noRun, sealEntry, unlessErased } from "../../chain/entry.ts";
import { votesScope } from "../../chain/ids.ts";
import { innerStart, type Position } from "../../chain/position.ts";
import { chainBroken } from "../../errors.ts";
import type { EntryId, StoredEntry } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import { isSamePerson, type NamedPerson } from "../../ports/people.ts";
import { inheritedHead } from "../../protocol/commit.ts";
import { followChoice, type NodeDefinition } from "../../protocol/definition.ts";
import { factsWithoutCode, type OutcomeFacts } from "../../protocol/outcome.ts";
import { choiceOutcome } from "./waiting-task.ts";

interface Common {
  by: NamedPerson;
  /** A time in ISO 8601. */
  at: string;
  /** The source, such as `the API as key_01...`. */
  from: string;
}

export interface Vote extends Common {
  kind: "vote";
  choice: string;
  /** JSON text of the data. Large parts are in blobs. */
  data: string;
  /** The name that the body of the request claims. */
  claimed?: string;
}

/** The record that a person takes back a vote or a delegation. */
export interface Withdrawal extends Common {
  kind: "withdrawal";
}

export interface Delegation extends Common {
  kind: "delegation";
  /** Mail address of the person who votes instead. */
  to: string;
}

/** The end of voting without a decision: the time is over, or the run is closed. */
export interface VotesEnd {
  kind: "end";
  at: string;
  reason: string;
}

/** The record in an entry of the inner scope of an approval. */
export type Ballot = Vote | Withdrawal | Delegation | VotesEnd;

/** The entries of the inner scope of an approval, up to the entry that ended the voting. */
export interface Votes {
  scope: string;
  /** The votes that count: at most one vote of each person, without withdrawn votes. */
  standing: Vote[];
  delegations: Delegation[];
  /** All ballots of people, oldest first. */
  ballots: Exclude<Ballot, VotesEnd>[];
  /** The vote with which a choice reached the count. */
  decisive?: Vote;
  /** Whether no further ballot may be written. */
  isOver: boolean;
  /** The last entry of the inner scope. Absent: the scope has no entry. */
  tip?: { seq: number; entry: StoredEntry; head: Head };
  /** Whether contents were erased, so that `standing` lacks votes. */
  isErased: boolean;
}

/** Reads the votes on an approval. `at` is the id of the approval's own entry, which may not exist yet. */
export async function readVotes(
  ports: Pick<Ports, "chain" | "blobs">,
  { execution, ...at }: EntryId,
  { id, approvers }: { id: string; approvers?: Approvers | undefined },
): Promise<Votes> {
  const scope = votesScope(at, id);
  const votes: Votes = { scope, standing: [], delegations: [], ballots: [], isOver: false, isErased: false };
  for await (const { seq, entry } of ports.chain.links(execution, scope)) {
    if (!entry) continue;
    const head = headOf(entry);
    const ballot = await ballotIn(ports, entry, head);
    votes.tip = { seq, entry, head };
    votes.isOver = head.path_taken === null;
    if (ballot) countBallot(votes, ballot, approvers?.count ?? 1);
    else votes.isErased = true;
  }
  return votes;
}

/** Reads the ballot in an entry; null if it was erased. */
export async function ballotIn({ blobs }: Pick<Ports, "blobs">, { contents: { vote } }: StoredEntry, head: Head) {
  const text = vote ? await unlessErased(() => contentText(vote, head, blobs)) : null;
  if (text === null) return null;
  const ballot = JSON.parse(text) as Ballot;
  // This code reads the JSON text of the data, because the parsed value would lose digits of numbers.
  return ballot.kind === "vote"
    ? { ...ballot, data: membersOf(text).find(({ key }) => key === "data")?.json ?? "null" }
    : ballot;
}

function countBallot(votes: Votes, ballot: Ballot, count: number): void {
  if (ballot.kind === "end") return;
  votes.ballots.push(ballot);
  if (votes.decisive) return;
  const isOthers = ({ by }: Common) => !isSamePerson(by, ballot.by);
  if (ballot.kind === "withdrawal") {
    votes.standing = votes.standing.filter(isOthers);
    votes.delegations = votes.delegations.filter(isOthers);
  } else if (ballot.kind === "delegation") {
    votes.delegations.push(ballot);
  } else if (votes.standing.every(isOthers)) {
    votes.standing.push(ballot);
    if (missingVotes(votes, ballot.choice, count) === 0) votes.decisive = ballot;
  }
}

/** Returns how many further people must make this choice. */
export function missingVotes({ standing }: Pick<Votes, "standing">, choice: string, count: number): number {
  return Math.max(0, count - standing.filter((vote) => vote.choice === choice).length);
}

/**
 * Writes a ballot after the votes that were read. Returns false if another process wrote a ballot first; the caller
 * then reads the votes again. `isLast`: no ballot may follow.
 */
export async function putBallot(
  ports: Ports,
  position: Position,
  node: Pick<ApprovalNode, "id">,
  { scope, tip }: Pick<Votes, "scope" | "tip">,
  { ballot, isLast }: { ballot: Ballot; isLast: boolean },
): Promise<boolean> {
  const before = tip?.head ?? innerStart(position.before, scope);
  const at: EntryId = { execution: position.at.execution, scope, seq: (tip?.seq ?? 0) + 1 };
  const link: Position = { before, beforeEntry: tip?.entry ?? position.beforeEntry, at, next: { seq: at.seq } };
  const entry = await sealEntry(
    {
      ...inheritedHead(link),
      ...noRun,
      node_id: node.id,
      node_type: "vote",
      status: "success",
      decision_result: ballot.kind === "vote" ? ballot.choice : null,
      path_taken: isLast ? null : node.id,
      timestamp: ballot.at,
      nodes: 0,
    },
    { vote: ballotText(ballot) },
    ports.blobs,
  );
  if (await ports.chain.putEntry(at, entry)) return true;
  const { entry: winner } = await ports.chain.read(at);
  if (!winner) throw chainBroken(`link ${at.seq} of ${at.execution}${scope} refuses an entry and has none`);
  // The SDK repeats a put whose answer was lost, and then finds its own entry.
  return winner.hash === entry.hash;
}

function ballotText(ballot: Ballot): string {
  if (ballot.kind !== "vote") return JSON.stringify(ballot);
  const { data, ...others } = ballot;
  return `${JSON.stringify(others).slice(0, -1)},"data":${data}}`;
}

/** Ends the voting, unless a vote has decided already. Returns the votes. No further ballot can change them. */
export async function endVotes(ports: Ports, position: Position, node: ApprovalNode, reason: string): Promise<Votes> {
  for (;;) {
    const votes = await readVotes(ports, position.at, node);
    if (votes.isOver) return votes;
    const ballot: Ballot = { kind: "end", at: new Date(ports.clock.now()).toISOString(), reason };
    await putBallot(ports, position, node, votes, { ballot, isLast: true });
  }
}

/**
 * Returns the facts for the own entry of an approval. This entry lists the last entry of the votes in the same way as a
 * join lists its branches.
 */
export function factsAfterVotes(facts: OutcomeFacts, { scope, tip }: Pick<Votes, "scope" | "tip">): OutcomeFacts {
  if (!tip) return facts;
  const branches: BranchTip[] = [{ scope, seq: tip.seq, hash: tip.entry.hash }];
  return { ...facts, more: { ...facts.more, inner: tip.seq, contents: { branches: JSON.stringify(branches) } } };
}

type Approval = NodeDefinition<ApprovalNode>;

/** Builds the outcome of an approval that votes have decided. Every process builds the same outcome. */
export function decidedOutcome(ports: Ports, definition: Approval, position: Position, votes: Votes) {
  const { before, next } = position;
  const { decisive, standing } = votes;
  const way = decisive && followChoice(definition, decisive.choice, before.loops);
  if (!decisive || !way) return undefined;
  const facts = factsAfterVotes(factsWithoutCode(ports, next.turn), votes);
  const all = standing.map((vote) => `{${votePart(vote)}}`).join(",");
  const json = `{${votePart(decisive)},"votes":[${all}]}`;
  return choiceOutcome(way, { key: definition.node.into, json }, facts);
}

function votePart({ choice, data, by, at, from, claimed }: Vote): string {
  const { name, via } = by;
  const after = JSON.stringify({ by: name, at, from, via, ...(claimed !== undefined && { claimed }) });
  return `"choice":${JSON.stringify(choice)},"data":${data},${after.slice(1, -1)}`;
}
