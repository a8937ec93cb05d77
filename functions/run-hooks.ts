import type { AwsPorts } from "@nova/aws/ports";
import type { Budgets, OnExecutionEnded, Ports } from "@nova/engine";
import type { RunHookStores } from "@nova/service";
import { lazily } from "./lazily.ts";

/** What looks after runs on behalf of the service, for functions that know nothing of it. */
export function createRunHooks(
  ports: () => Ports & Pick<RunHookStores, "admissions">,
  stores: AwsPorts["runHookStores"],
  warn: (message: string, facts: Record<string, unknown>) => void,
): { onExecutionEnded: OnExecutionEnded; budgets: Budgets } {
  // Loaded and made when a run ends, or a model was asked, the first time: no node waits for it before.
  const made = lazily(async () => {
    const { createBudgets, createOnExecutionEnded } = await import("@nova/service/run-hooks");
    const all = { ...ports(), ...(await stores()) };
    return {
      onExecutionEnded: createOnExecutionEnded(all, warn),
      budgets: createBudgets(all),
    };
  });
  return {
    onExecutionEnded: async (execution) => (await made()).onExecutionEnded(execution),
    budgets: {
      ofMonth: async (client) => (await made()).budgets.ofMonth(client),
      note: async (client, node, usd) => (await made()).budgets.note(client, node, usd),
    },
  };
}
