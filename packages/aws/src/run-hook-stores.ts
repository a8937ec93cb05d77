import type { RunHookStores } from "@nova/service";
import { createClientStore } from "./dynamodb/clients.ts";
import type { TableConnection } from "./dynamodb/records.ts";
import { createSlotStore } from "./dynamodb/slots.ts";
import { createSpendingStore } from "./dynamodb/spending.ts";
import { createStatsStore } from "./dynamodb/stats.ts";
import { createWorkflowStates } from "./dynamodb/workflow-states.ts";

/** The only stores of the service that functions of the engine need: quotas, spending and statistics of runs. */
export function createRunHookStores(connection: TableConnection): RunHookStores {
  return {
    clients: createClientStore(connection),
    workflowStates: createWorkflowStates(connection),
    slots: createSlotStore(connection),
    spending: createSpendingStore(connection),
    stats: createStatsStore(connection),
  };
}
