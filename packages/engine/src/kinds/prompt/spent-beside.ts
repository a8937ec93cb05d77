import { atOnce } from "../../at-once.ts";
import { branchOf } from "../../chain/scope.ts";
import { spentSince } from "../../chain/spending.ts";
import type { StepText } from "../../chain/steps/step-record.ts";
import type { LinkId, StoredEntry, StoredStep } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import { forkBehind, hasBegun, type OpenFork, opensFork, readTip } from "../../protocol/branches.ts";

type Reads = Pick<Ports, "chain" | "workflows">;

/** US dollars that models have cost in branches and items beside a place, as far as it is recorded. */
export async function spentBesideUsd(ports: Reads, { execution, scope }: Omit<LinkId, "seq">): Promise<number> {
  const place = branchOf(scope);
  if (!place) return 0;
  const { entry } = await ports.chain.read({ execution, scope: place.parent, seq: place.seq });
  const around = await spentBesideUsd(ports, { execution, scope: place.parent });
  return around + (entry ? await spentBehind(ports, entry, scope) : 0);
}

/** In the branches of a fork, `except` that one. */
async function spentBehind(ports: Reads, fork: StoredEntry, except?: string): Promise<number> {
  const open = await forkBehind(ports, fork);
  const others = open?.branches.filter(({ scope }) => scope !== except) ?? [];
  return sum(await atOnce(others, ({ scope }) => spentIn(ports, open as OpenFork, scope)));
}

async function spentIn(ports: Reads, { entry, head }: OpenFork, scope: string): Promise<number> {
  const tip = await readTip(ports, head.execution_id, scope, entry);
  // A branch counts on from what its fork says.
  const recorded = spentSince(head.spent, tip.head.spent).cost_usd;
  const underWay = tip.turn ? sum((await ports.chain.steps(tip.next)).map(costOf)) : 0;
  const inside = hasBegun(tip) && opensFork(tip.head) ? await spentBehind(ports, tip.entry) : 0;
  return recorded + underWay + inside;
}

/** Notes beside the steps cost nothing. */
function costOf({ text }: StoredStep): number {
  return (JSON.parse(text) as Partial<StepText>).cost_usd ?? 0;
}

function sum(usd: readonly number[]): number {
  return usd.reduce((all, one) => all + one, 0);
}
