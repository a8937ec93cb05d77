import { atOnce } from "../at-once.ts";
import type { Link } from "../ports/chain.ts";
import type { Execution } from "../ports/executions.ts";
import type { Ports } from "../ports/index.ts";
import { findOpenedFork } from "../protocol/branches.ts";
import { sha256 } from "../sha256.ts";

/** The limit of branches to read: for a larger fork it would cost as much as the trace itself. */
const maxBranches = 20;

/**
 * Returns a text that changes whenever the result of `readTrace` changes. It covers the record and the last link of
 * each open scope. It costs a read for each open scope, and no read for an execution that has ended. Undefined if many
 * branches are open.
 */
export async function traceTag(ports: Ports, execution: Execution): Promise<string | undefined> {
  const tips = execution.open ? await openTips(ports, execution.id, "", { left: maxBranches }) : [];
  return tips && sha256(JSON.stringify([execution, tips]));
}

/** A fork without its join may continue in any of its branches; other scopes grow only at their end. */
async function openTips(
  ports: Ports,
  execution: string,
  scope: string,
  budget: { left: number },
): Promise<unknown[] | undefined> {
  const links = await ports.chain.tip(execution, scope);
  const tips: unknown[] = links.map(({ seq, turn, entry }: Link) => [scope, seq, turn, entry?.hash]);
  const last = links.filter(({ entry }) => entry).sort((a, b) => b.seq - a.seq)[0];
  const fork = last?.entry && (await findOpenedFork(ports, last.entry));
  if (!fork) return tips;
  budget.left -= fork.branches.length;
  if (budget.left < 0) return undefined;
  const inside = await atOnce(fork.branches, (branch) => openTips(ports, execution, branch.scope, budget));
  return inside.every((one) => one !== undefined) ? [...tips, ...inside] : undefined;
}
