import type { AwsPorts } from "@nova/aws/ports";
import type { Budgets, OnExecutionEnded, Ports } from "@nova/engine";
import type { RunHookStores } from "@nova/service";

type RunHookPorts = Ports & Pick<RunHookStores, "admissions">;

/** What looks after runs on behalf of the service, for functions that know nothing of it. */
export function createRunHooks(
  ports: () => RunHookPorts,
  stores: AwsPorts["runHookStores"],
): { onExecutionEnded: OnExecutionEnded; budgets: Budgets } {
  const make = async () => {
    const { createBudgets, createOnExecutionEnded } = await import("@nova/service/run-hooks");
    const all = { ...ports(), ...(await stores()) };
    return { onExecutionEnded: createOnExecutionEnded(all), budgets: createBudgets(all) };
  };
  let making: ReturnType<typeof make> | undefined;
  /** Loaded and made when a run ends, or a model was asked, the first time: no node waits for it before. */
  const made = () => {
    making ??= make();
    return making;
  };
  return {
    onExecutionEnded: async (execution) => (await made()).onExecutionEnded(execution),
    budgets: {
      ofMonth: async (client) => (await made()).budgets.ofMonth(client),
      note: async (client, node, usd) => (await made()).budgets.note(client, node, usd),
    },
  };
}
