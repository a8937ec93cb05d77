import type { NovaClient } from "@nova/client";
import { askApi } from "../api/ask.ts";
import { unlessMissing } from "../api/client.ts";
import { InvalidInput } from "../errors.ts";
import { tableLines } from "../output/table.ts";
import { command } from "./command.ts";

/** By option: the API's name, and whose it may be. */
const limits = {
  maxConcurrent: { name: "max_concurrent", of: ["workflow", "client"] },
  maxConcurrentPerClient: { name: "max_concurrent_per_client", of: ["workflow"] },
  maxCostUsd: { name: "max_cost_usd", of: ["client"] },
  retentionDays: { name: "retention_days", of: ["client"] },
} as const;

type Quotas = Record<string, number | null>;

export const quotas = command({
  summary: "show and set what runs of a workflow or a client may do; `none` lifts a limit",
  takes: {
    "<workflow|client>": "id or slug; workflow:<id> or client:<slug> where it could be both",
    "--max-concurrent <n>": "runs at once; others are queued",
    "--max-concurrent-per-client <n>": "of a workflow: runs at once of each client",
    "--max-cost-usd <x>": "of a client: what models may cost in a calendar month",
    "--retention-days <n>": "of a client: how long the contents of a run are kept after its end",
  },
  async run([name = ""], options) {
    const { owner, own } = await askApi(async (server) => {
      const found = await ownerNamed(server, name);
      const changes = changesFor(found.kind, options);
      return { owner: found, own: await changed(server, found, changes) };
    });
    const rows = Object.entries(own).map(([limit, value]) => [limit.replaceAll("_", " "), String(value ?? "none")]);
    const text = tableLines([`${owner.kind} ${owner.id}`, "limit"], rows);
    return { json: { [owner.kind]: owner.id, quotas: own }, text };
  },
});

function changesFor(
  kind: QuotaOwner["kind"],
  options: Partial<Record<keyof typeof limits, string | undefined>>,
): Quotas {
  const changes: Quotas = {};
  for (const [option, { name, of }] of Object.entries(limits)) {
    const text = options[option as keyof typeof limits];
    if (text === undefined) continue;
    const flag = `--${name.replaceAll("_", "-")}`;
    if (!(of as readonly string[]).includes(kind)) throw new InvalidInput(`${flag} is of a ${of[0]}, not of a ${kind}`);
    changes[name] = text === "none" ? null : readNumber(flag, text);
  }
  return changes;
}

function readNumber(flag: string, text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value) || value <= 0)
    throw new InvalidInput(`${flag} ${text} is not a number above 0 - write one, or none to lift the limit`);
  return value;
}

/** The API replaces them as a whole: what is not spoken of stays. */
async function changed(server: NovaClient, { kind, id, quotas }: QuotaOwner, changes: Quotas): Promise<Quotas> {
  if (Object.keys(changes).length === 0) return quotas;
  const body = { ...quotas, ...changes };
  if (kind === "client") return { ...(await server.clients.change(id, { quotas: body })).quotas };
  return { ...(await server.ask(server.api.PUT("/workflows/{id}/quotas", { params: { path: { id } }, body }))) };
}

/** Whose quotas they are, and the quotas as they are now. */
interface QuotaOwner {
  kind: "workflow" | "client";
  id: string;
  quotas: Quotas;
}

/** Of `workflow:<id>`, `client:<slug>`, or a name that only one of both has. Throws `InvalidInput`. */
async function ownerNamed(server: NovaClient, name: string): Promise<QuotaOwner> {
  const [, kind, id = name] = /^(workflow|client):(.*)$/.exec(name) ?? [];
  const ofWorkflow = async (): Promise<QuotaOwner> => {
    const asked = server.api.GET("/workflows/{id}/quotas", { params: { path: { id } } });
    return { kind: "workflow", id, quotas: { ...(await server.ask(asked)) } };
  };
  const ofClient = async (): Promise<QuotaOwner> => {
    return { kind: "client", id, quotas: { ...(await server.clients.get(id)).quotas } };
  };
  const found = await Promise.all([
    kind === "client" ? null : unlessMissing(ofWorkflow()),
    kind === "workflow" ? null : unlessMissing(ofClient()),
  ]);
  const [owner, ...others] = found.filter((one) => one !== null);
  if (!owner)
    throw new InvalidInput(`there is no ${kind ?? "workflow and no client"} "${id}" - nova clients list shows clients`);
  if (others.length === 0) return owner;
  throw new InvalidInput(`"${id}" is a workflow and a client - write workflow:${id} or client:${id}`);
}
