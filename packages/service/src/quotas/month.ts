import type { Budgets } from "@nova/engine";
import { Refused } from "../errors.ts";
import { type Client, defaultClient } from "../ports/clients.ts";
import type { ServicePorts } from "../ports/index.ts";

type MonthPorts = Pick<ServicePorts, "clients" | "spending" | "clock">;

/** The month in UTC, which is the same for all clients. */
function monthOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, "2026-11".length);
}

/**
 * Builds the budgets of clients. Each node that calls models has its own item, so a repeated report counts once, and
 * concurrent nodes do not wait for each other. A month is the sum of its items. These are few: most nodes run pinned code
 * and call no model.
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

/** Throws `Refused` if the client has spent its budget. Reads nothing for a client without a limit. */
export async function demandBudget({ spending, clock }: MonthPorts, client: Client | undefined): Promise<void> {
  const limitUsd = client?.quotas?.maxCostUsd;
  if (!client || limitUsd === undefined) return;
  const spentUsd = await spending.ofMonth(client.slug, monthOf(clock.now()));
  if (spentUsd < limitUsd) return;
  throw new Refused(
    `client "${client.slug}" has spent $${spentUsd.toFixed(2)} of $${limitUsd.toFixed(2)} on models this month - raise its quotas.max_cost_usd, or wait for the next month`,
  );
}
