import type { NovaClient } from "@nova/client";
import { askApi } from "../api/ask.ts";
import { nullIfMissing } from "../api/client.ts";
import { InvalidInput } from "../errors.ts";
import { tableLines } from "../output/table.ts";
import { command } from "./command.ts";

/** The API's name of each option, and the owners that can have it. */
const limits = {
  maxConcurrent: { name: "max_concurrent", of: ["workflow", "client"] },
  maxConcurrentPerClient: { name: "max_concurrent_per_client", of: ["workflow"] },
  maxCostUsd: { name: "max_cost_usd", of: ["client"] },
  retentionDays: { name: "retention_days", of: ["client"] },
} as const;

type Quotas = Record<string, number | null>;

export const quotas = command({
  summary: "show and set the limits of runs of a workflow or a client; `none` removes a limit",
  takes: {
    "<workflow|client>": "id or slug; workflow:<id> or client:<slug> if both exist",
    "--max-concurrent <n>": "concurrent runs; others are queued",
    "--max-concurrent-per-client <n>": "of a workflow: concurrent runs of each client",
    "--max-cost-usd <x>": "of a client: dollars for models in a calendar month",
    "--retention-days <n>": "of a client: days until the contents of an ended run are deleted",
  },
  async run([name = ""], options) {
    const { owner, own } = await askApi(async (server) => {
      const found = await findOwner(server, name);
      const changes = changesFor(found.kind, options);
      return { owner: found, own: await applyChanges(server, found, changes) };
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
    if (!(of as readonly string[]).includes(kind))
      throw new InvalidInput(`${flag} is a limit of a ${of[0]}, not of a ${kind}`);
    changes[name] = text === "none" ? null : readNumber(flag, text);
  }
  return changes;
}

function readNumber(flag: string, text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value) || value <= 0)
    throw new InvalidInput(`${flag} ${text} is not a number above 0 - write one, or none to remove the limit`);
  return value;
}

/** Merges the changes with the current quotas, because the API replaces all of them. */
async function applyChanges(server: NovaClient, { kind, id, quotas }: QuotaOwner, changes: Quotas): Promise<Quotas> {
  if (Object.keys(changes).length === 0) return quotas;
  const body = { ...quotas, ...changes };
  if (kind === "client") return { ...(await server.clients.change(id, { quotas: body })).quotas };
  return { ...(await server.ask(server.api.PUT("/workflows/{id}/quotas", { params: { path: { id } }, body }))) };
}

/** The owner of quotas, with their current values. */
interface QuotaOwner {
  kind: "workflow" | "client";
  id: string;
  quotas: Quotas;
}

/** Finds the owner by `workflow:<id>`, `client:<slug>`, or a name that only one of them has. Throws `InvalidInput`. */
async function findOwner(server: NovaClient, name: string): Promise<QuotaOwner> {
  const [, kind, id = name] = /^(workflow|client):(.*)$/.exec(name) ?? [];
  const ofWorkflow = async (): Promise<QuotaOwner> => {
    const asked = server.api.GET("/workflows/{id}/quotas", { params: { path: { id } } });
    return { kind: "workflow", id, quotas: { ...(await server.ask(asked)) } };
  };
  const ofClient = async (): Promise<QuotaOwner> => {
    return { kind: "client", id, quotas: { ...(await server.clients.get(id)).quotas } };
  };
  const found = await Promise.all([
    kind === "client" ? null : nullIfMissing(ofWorkflow()),
    kind === "workflow" ? null : nullIfMissing(ofClient()),
  ]);
  const [owner, ...others] = found.filter((one) => one !== null);
  if (!owner)
    throw new InvalidInput(`there is no ${kind ?? "workflow or client"} "${id}" - nova clients list shows clients`);
  if (others.length === 0) return owner;
  throw new InvalidInput(`"${id}" is both a workflow and a client - write workflow:${id} or client:${id}`);
}
