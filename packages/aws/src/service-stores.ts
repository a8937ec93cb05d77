import type { ServiceStores } from "@nova/service";
import { documentClient } from "./clients/clients.ts";
import { createAttemptStore } from "./dynamodb/attempts/attempt-store.ts";
import { createAuditLog } from "./dynamodb/audit/audit-log.ts";
import { createClientStore } from "./dynamodb/clients/client-store.ts";
import type { TableConnection } from "./dynamodb/connection.ts";
import { createKeyStore } from "./dynamodb/keys/key-store.ts";
import { createWorkflowStates } from "./dynamodb/workflow-states/workflow-state-store.ts";

/** What the service stores, in the one table. `client` is made, and shared by all of them, where it is absent. */
export function createServiceStores({ table, client = documentClient() }: Partial<TableConnection>): ServiceStores {
  const connection = { client, table: table ?? process.env.NOVA_TABLE ?? "nova" };
  return {
    keys: createKeyStore(connection),
    audit: createAuditLog(connection),
    clients: createClientStore(connection),
    workflowStates: createWorkflowStates(connection),
    attempts: createAttemptStore(connection),
  };
}
