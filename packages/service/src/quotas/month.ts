import type { Budgets } from "@nova/engine";
import { Refused } from "../errors.ts";
import { type Client, defaultClient } from "../ports/clients.ts";
import type { ServicePorts } from "../ports/index.ts";

type MonthPorts = Pick<ServicePorts, "clients" | "spending" | "clock">;

/** A month ends for everybody at midnight UTC. */
function monthOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, "2026-11".length);
}

/**
 * Each node that asks models has an item of its own, so that nothing is counted twice however often it is told, and
 * nodes that run at once do not wait for each other. A month is the sum of them: only runs that ask a model are in it,
 * which is few, since written code is pinned.
 */
export function createBudgets({ clients, spending, clock }: MonthPorts): Budgets {
  return {
    async ofMonth(client) {
      if (client === defaultClient) return null;
      const limitUsd = (await clients.get(client))?.quotas?.maxCostUsd;
      if (limitUsd === undefined) return null;
      return { limitUsd, spentUsd: await spending.ofMonth(client, monthOf(clock.now())) };
    },
    async note(client, node, usd) {
      if (client !== defaultClient) await spending.note(client, monthOf(clock.now()), node, usd);
    },
  };
}

/** Throws `Refused` for a run of a client that has spent what it may. Costs nothing where nobody limits it. */
export async function demandBudget({ spending, clock }: MonthPorts, client: Client | undefined): Promise<void> {
  const limitUsd = client?.quotas?.maxCostUsd;
  if (!client || limitUsd === undefined) return;
  const spentUsd = await spending.ofMonth(client.slug, monthOf(clock.now()));
  if (spentUsd < limitUsd) return;
  throw new Refused(
    `client "${client.slug}" has spent $${spentUsd.toFixed(2)} of $${limitUsd.toFixed(2)} on models this month - raise its quotas.max_cost_usd, or wait for the next month`,
  );
}
