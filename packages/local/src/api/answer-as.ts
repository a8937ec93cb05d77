import type { ApiForOne, HttpEvent } from "@nova/functions/api";
import type { Principal, ServicePorts } from "@nova/service";
import type { LocalCloud } from "../cloud/local-cloud.ts";

/**
 * Opens the REST API for a command. A request that the command makes in this process gets the same answer as a request
 * to a server.
 */
export async function answerAs(cloud: LocalCloud, principal: Principal): Promise<ApiForOne> {
  process.env.POWERTOOLS_LOG_LEVEL ??= "SILENT"; // The command prints errors itself, so the logger is silent.
  const { callAs, createApi } = await import("@nova/functions/api");
  const inner = (ports: ServicePorts) => {
    const handler = createApi(() => ports);
    return (event: HttpEvent) => handler(event, context);
  };
  return callAs({ with: inner }, cloud.service, principal);
}

/**
 * The Lambda context of all requests. A command has no time limit, so the remaining time is the longest time of a Node
 * timer.
 */
const context = { awsRequestId: "in-process", getRemainingTimeInMillis: () => 2 ** 31 - 1 };
