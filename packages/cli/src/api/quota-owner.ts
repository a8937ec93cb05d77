import type { NovaClient } from "@nova/client";
import { InvalidInput } from "../errors.ts";
import { unlessMissing } from "./client.ts";

/** Whose quotas they are, and the quotas as they are now. */
export interface QuotaOwner {
  kind: "workflow" | "client";
  id: string;
  quotas: Record<string, number | null>;
}

/** Of `workflow:<id>`, `client:<slug>`, or a name that only one of both has. Throws `InvalidInput`. */
export async function ownerNamed(server: NovaClient, name: string): Promise<QuotaOwner> {
  const [, kind, id = name] = /^(workflow|client):(.*)$/.exec(name) ?? [];
  const found = await Promise.all([
    kind === "client" ? null : unlessMissing(ofWorkflow(server, id)),
    kind === "workflow" ? null : unlessMissing(ofClient(server, id)),
  ]);
  const [owner, ...others] = found.filter((one) => one !== null);
  if (!owner)
    throw new InvalidInput(`there is no ${kind ?? "workflow and no client"} "${id}" - nova clients list shows clients`);
  if (others.length === 0) return owner;
  throw new InvalidInput(`"${id}" is a workflow and a client - write workflow:${id} or client:${id}`);
}

async function ofWorkflow(server: NovaClient, id: string): Promise<QuotaOwner> {
  const asked = server.api.GET("/workflows/{id}/quotas", { params: { path: { id } } });
  return { kind: "workflow", id, quotas: { ...(await server.ask(asked)) } };
}

async function ofClient(server: NovaClient, id: string): Promise<QuotaOwner> {
  return { kind: "client", id, quotas: { ...(await server.clients.get(id)).quotas } };
}
