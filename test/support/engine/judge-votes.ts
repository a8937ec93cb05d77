import type { Head, StoredEntry } from "@nova/engine";
import type { ApprovalNode } from "@nova/workflow";

interface Ballot {
  kind: "vote" | "withdrawal" | "delegation" | "end";
  choice?: string;
  to?: string;
  from?: string;
  by: { name: string; via?: { kind: string; key?: string } };
}

interface Written {
  head: Head;
  entry: StoredEntry;
}

/**
 * Checks the votes on approvals, and the outcomes of the approvals, independently of the engine. Each person has at
 * most one vote at a time. No entry follows the vote that ends the voting. The outcome is the choice that first had
 * enough votes.
 */
export function judgeVotes(every: readonly Written[], nodeOf: (id: string) => ApprovalNode | undefined): string[] {
  const scopes = Map.groupBy(
    every.filter(({ head }) => head.node_type === "vote"),
    ({ head }) => head.scope,
  );
  const judged = Array.from(scopes, ([scope, votes]) => {
    const node = nodeOf(votes[0]?.head.node_id ?? "");
    const own = every.find(({ head }) => `${head.scope}/${head.node_id}@${head.seq}.(votes)` === scope);
    if (!node?.approvers) return [`${scope} has votes, and its node has no approvers`];
    if (!own) return [`${scope} has votes, and its approval has no entry`];
    return judgeOne(scope, votes, own.head, node);
  });
  return [...judged.flat(), ...judgeExclusions([...scopes.values()], nodeOf)];
}

/** Checks that each person has a vote on only one of two approvals that exclude each other. */
function judgeExclusions(
  scopes: readonly (readonly Written[])[],
  nodeOf: (id: string) => ApprovalNode | undefined,
): string[] {
  const voters = scopes.map((votes) => ({ node: votes[0]?.head.node_id ?? "", names: standingIn(votes) }));
  const excludes = (one: string, other: string) => nodeOf(one)?.approvers?.not.includes(other) === true;
  return voters.flatMap(({ node, names }) =>
    voters
      .filter((other) => excludes(node, other.node) && excludes(other.node, node))
      .flatMap((other) => [...names].filter((name) => other.names.has(name)))
      .map((name) => `${name} has a vote on ${node} and on an approval that it excludes`),
  );
}

function standingIn(votes: readonly Written[]): Set<string> {
  const names = new Set<string>();
  for (const { entry } of votes) {
    const { kind, by } = ballotIn(entry);
    if (kind === "vote") names.add(by.name);
    if (kind === "withdrawal") names.delete(by.name);
  }
  return names;
}

function judgeOne(scope: string, votes: readonly Written[], own: Head, { approvers }: ApprovalNode): string[] {
  const problems: string[] = [];
  const standing = new Map<string, string>();
  const delegates = new Map<string, string>();
  const { any, count } = approvers as NonNullable<ApprovalNode["approvers"]>;
  let decided: string | undefined;
  const links = votes.flatMap(({ entry }) => {
    const { by, from } = ballotIn(entry);
    // A vote on another approval can write a withdrawal here. This withdrawal does not use up the person's mailed link.
    return by?.via?.kind === "mail" && !from?.startsWith("a vote on") ? [by.via.key] : [];
  });
  if (new Set(links).size < links.length) problems.push(`a link is used twice in ${scope}`);
  votes.forEach(({ head, entry }, index) => {
    const ballot = ballotIn(entry);
    const isLast = index === votes.length - 1;
    if ((head.path_taken === null) !== isLast) problems.push(`${scope} goes on after its end, or has none`);
    if (ballot.kind === "end") return;
    const { name } = ballot.by;
    if (ballot.kind === "withdrawal") {
      standing.delete(name);
      delegates.delete(name);
    } else if (ballot.kind === "delegation") {
      if (standing.has(name)) problems.push(`${name} has voted and delegates in ${scope}`);
      delegates.set(name, ballot.to as string);
    } else {
      if (standing.has(name)) problems.push(`${name} votes twice in ${scope}`);
      if (delegates.has(name)) problems.push(`${name} votes after a delegation in ${scope}`);
      if (!any.includes(name) && ![...delegates.values()].includes(name))
        problems.push(`${name} may not vote in ${scope}`);
      standing.set(name, ballot.choice as string);
      const same = [...standing.values()].filter((choice) => choice === ballot.choice).length;
      if (same >= count) decided ??= ballot.choice;
      if (same >= count && !isLast) problems.push(`${scope} goes on after its decision`);
    }
  });
  const outcome = own.decision_result ?? own.error_class;
  if (decided !== undefined && outcome !== decided)
    problems.push(`${scope} decided ${decided}, its approval says ${outcome}`);
  if (decided === undefined && (outcome === "approved" || outcome === "rejected"))
    problems.push(`${scope} decided nothing, and its approval says ${outcome}`);
  return problems;
}

function ballotIn({ contents: { vote } }: StoredEntry): Ballot {
  return vote && "text" in vote ? JSON.parse(vote.text) : { kind: "end", by: { name: "" } };
}
