import type { Head, StoredEntry } from "@nova/engine";

interface Tip {
  scope: string;
  seq: number;
  hash: string;
}

/**
 * Checks that every branch is listed by a join, and that each join lists the last entries of exactly the branches of
 * its fork.
 */
export function judgeJoins(every: readonly { head: Head; entry: StoredEntry }[], count: number): string[] {
  const last = new Map(every.map(({ head, entry }) => [head.scope, { head, entry }]));
  const joins = every.filter(({ head }) => head.node_type === "join");
  const listed = joins.flatMap(({ head, entry }) => tipsIn(entry).map((tip) => ({ ...tip, join: head })));
  const unlisted = Array.from(last.keys()).filter(
    (scope) => scope !== "" && !listed.some((tip) => tip.scope === scope),
  );
  const wrong = listed.filter(({ scope, seq, hash, join }) => {
    const tip = last.get(scope);
    const isOwn = scope.startsWith(`${join.scope}/${join.node_id.slice(0, -".join".length)}@${join.seq - 1}.`);
    return !isOwn || tip?.head.seq !== seq || tip.entry.hash !== hash;
  });
  return [
    ...unlisted.map((scope) => `no join lists the entries of ${scope}`),
    ...wrong.map(({ scope, join }) => `the join at link ${join.seq}${join.scope} lists ${scope} wrongly`),
    ...(new Set(listed.map(({ scope }) => scope)).size < listed.length ? ["a branch is listed twice"] : []),
    ...(count === every.length ? [] : [`the close counts ${count} entries, there are ${every.length}`]),
  ];
}

function tipsIn({ contents }: StoredEntry): Tip[] {
  const { branches } = contents;
  return branches && "text" in branches ? (JSON.parse(branches.text) as Tip[]) : [];
}
