import { createHash, timingSafeEqual } from "node:crypto";
import { isNamedPerson } from "@nova/workflow";
import type { Ports } from "../../ports/index.ts";
import type { Person } from "../../ports/people.ts";
import type { WaitingTask } from "../../ports/tasks.ts";
import { sha256 } from "../../sha256.ts";
import { isExcluded } from "./check-approver.ts";
import { readVotes, type Votes } from "./votes.ts";
import { AnswerRefused, waitingAt, waitingDetail } from "./waiting-task.ts";

/** A link with which the owner of a mail address votes once on an approval. */
export interface VoteLink {
  mail: string;
  /** How many links the person has used before. */
  number: number;
  /** Undefined: NOVA does not know the address of the page. */
  url: string | undefined;
}

/**
 * Returns the links of the people who can still vote: people with a mail address whom the approval or a delegation
 * names, and whom `not` does not exclude. With `only`, returns the link of this person, even after a vote or a
 * delegation. With this link, the person can take the vote or the delegation back.
 */
export async function voteLinks(ports: Ports, task: WaitingTask, only?: string): Promise<VoteLink[]> {
  const { approvers, node: id } = task;
  if (!approvers) return [];
  const votes = await readVotes(ports, task, { id, approvers });
  if (votes.isOver) return [];
  const people = new Set([...approvers.any.filter(isNamedPerson), ...votes.delegations.map(({ to }) => to)]);
  const done = [...votes.standing, ...votes.delegations].flatMap(({ by }) => by.ids);
  const asked = only === undefined ? people.difference(new Set(done)) : people.intersection(new Set([only]));
  const links: VoteLink[] = [];
  for (const mail of asked) {
    const mayVote = only !== undefined || !(await isExcluded(ports, task, approvers, mail));
    if (mayVote) links.push(await linkOf(ports, task, mail, votes));
  }
  return links;
}

async function linkOf(ports: Ports, task: WaitingTask, mail: string, { ballots }: Votes): Promise<VoteLink> {
  const number = ballots.filter(({ by: { name, via } }) => via.kind === "mail" && name === mail).length;
  return { mail, number, url: ports.links.toVote(task, await tokenOf(ports, task, { mail, number })) };
}

/**
 * Derives the token of a link from a signature, so that only the owner of the signing key can compute it. The token is
 * valid for one task, person and number, until the task expires. NOVA does not store the token.
 */
async function tokenOf({ signer }: Ports, task: WaitingTask, { mail, number }: Omit<VoteLink, "url">): Promise<string> {
  const { client, execution, scope, seq, id, expiresAt } = task;
  const bond = sha256(JSON.stringify([client, execution, scope, seq, id, expiresAt, mail, number]));
  const signature = await signer.sign(`vote link ${bond}`);
  const proof = createHash("sha256").update(signature).digest("base64url");
  return `nova_vl_${number}_${Buffer.from(mail).toString("base64url")}_${proof}`;
}

/** Matches a token: its number, the mail address in base64url, and the proof. */
const tokenPattern = /^nova_vl_(\d{1,6})_([\w-]{4,430})_([\w-]{43})$/;

/** Returns the person whom a token proves; undefined if NOVA has not made the token for this task. */
export async function ownerOfVoteLink(ports: Ports, task: WaitingTask, token: string): Promise<Person | undefined> {
  const [, number, encoded] = tokenPattern.exec(token) ?? [];
  if (number === undefined || encoded === undefined) return undefined;
  const mail = Buffer.from(encoded, "base64url").toString();
  // This code compares whole tokens, because several texts in base64url stand for the same bytes.
  const expected = await tokenOf(ports, task, { mail, number: Number(number) });
  if (!timingSafeEqual(digestOf(expected), digestOf(token))) return undefined;
  return { name: mail, ids: [mail], roles: [], groups: [], via: { kind: "mail", key: `link_${sha256(token)}` } };
}

function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Throws `AnswerRefused` if the person uses a link with which a ballot was written before. */
export function demandUnusedLink({ node }: WaitingTask, { ballots, isErased }: Votes, { name, via }: Person): void {
  if (via.kind !== "mail") return;
  if (isErased) throw new AnswerRefused(`NOVA cannot tell whether this link to "${node}" was used - start a new run`);
  const used = ballots.find(({ by }) => by.via.kind === "mail" && by.via.key === via.key);
  if (used)
    throw new AnswerRefused(
      `this link to "${node}" was used at ${used.at} and works once - open the newest link that NOVA has mailed to ${name}`,
    );
}

/** Throws `AnswerRefused` if a person's link has become useless: the approval is over, or the link was used. */
export async function demandOpenLink(ports: Ports, task: WaitingTask, person: Person): Promise<void> {
  await waitingAt(ports, task);
  const votes = await readVotes(ports, task, { id: task.node, approvers: task.approvers });
  if (votes.isOver) throw takesNoVotes(task);
  demandUnusedLink(task, votes, person);
}

export function takesNoVotes({ node, execution }: WaitingTask): AnswerRefused {
  return new AnswerRefused(`"${node}" takes no votes any more - nova trace ${execution} shows what followed`);
}

/** Publishes an event that makes `nova-notify` mail a link to this person. */
export async function requestLink(ports: Ports, task: WaitingTask, mail: string): Promise<void> {
  await ports.events.publish("execution.waiting", { ...waitingDetail(ports, task), link_for: mail });
}
