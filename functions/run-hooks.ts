import type { AwsPorts } from "@nova/aws/ports";
import type { Budgets, OnExecutionEnded, Ports } from "@nova/engine";
import type { RunHookStores } from "@nova/service";
import { lazyValue } from "./lazy-value.ts";

/** The service's hooks of a run, for functions that do not load the service. */
export function createRunHooks(
  ports: () => Ports & Pick<RunHookStores, "admissions">,
  stores: AwsPorts["runHookStores"],
  warn: (message: string, facts: Record<string, unknown>) => void,
): { onExecutionEnded: OnExecutionEnded; budgets: Budgets } {
  // The first end of a run, or the first question to a model, loads the service, so no node waits for that.
  const made = lazyValue(async () => {
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
