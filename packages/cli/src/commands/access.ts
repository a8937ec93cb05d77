import { text } from "node:stream/consumers";
import type { CredentialOwner, Key, NewCredential, NovaClient } from "@nova/client";
import type { ApiKey, KeyPorts } from "@nova/service";
import { defined } from "@nova/workflow/defined";
import { monotonicFactory } from "ulid";
import { askApi, thisUser } from "../api/ask.ts";
import { nullIfMissing } from "../api/client.ts";
import { explainAwsErrors } from "../cloud.ts";
import { exitCodes, InvalidInput } from "../errors.ts";
import { isObjectText, readJsonFile } from "../input/context.ts";
import { type CommandOutput, printError } from "../output/terminal.ts";
import { listed, tableLines } from "../output/text.ts";
import { actionOf, command } from "./command.ts";

const kinds: readonly NewCredential["kind"][] = ["email", "database", "http", "oauth2", "custom"];

export const credentials = command({
  summary: "store, list and remove credentials of nodes, or re-encrypt all of them with a new key",
  takes: {
    "<set|list|remove|rotate>": "what to do",
    "[owner]": "slug of a client (default: for runs without a client); with --workflow the id of a workflow",
    "[name]": "with set, remove: which one",
    "--workflow": "the owner is a workflow, and its runs of every client get the credential",
    "--kind <kind>": `with set: ${kinds.join(", ")}; absent: the kind with the same name as the credential`,
    "--file <path>": "with set: JSON file with the values; - is standard input",
    "--set <field=text...>": "with set: a value that is not secret, because shells store command lines",
  },
  async run([asked, owner = "", name], { workflow, kind, file, set: fields }) {
    const action = actionOf("credentials", ["set", "list", "remove", "rotate"], asked);
    if (action === "rotate") return rotate();
    if (owner === "") throw new InvalidInput(`nova credentials ${action} needs an owner - name a client, or "default"`);
    const whose: CredentialOwner = workflow ? { workflow: owner } : { client: owner };
    if (action === "list") {
      const items = await askApi((nova) => Array.fromAsync(nova.credentials.list(whose)));
      const columns = { name: "name", kind: "kind", changed: "changed_at" } as const;
      return listed(items, { columns, empty: "no credentials - nova credentials set stores one" });
    }
    if (!name) throw new InvalidInput(`nova credentials ${action} needs a name - write it after ${owner}`);
    if (action === "set") return set(whose, name, kind, file, fields);
    await askApi((nova) => nova.credentials.remove(whose, name));
    return { json: { name, removed: true }, text: `${name} is removed` };
  },
});

async function set(owner: CredentialOwner, name: string, kindOption?: string, file?: string, fields: string[] = []) {
  const kind = kinds.find((one) => one === (kindOption ?? name));
  if (!kind) {
    const what = kindOption === undefined ? `"${name}" is not the name of a kind` : `there is no kind "${kindOption}"`;
    throw new InvalidInput(`${what} - use one of --kind ${kinds.join(", ")}`);
  }
  const values = await readValues(file, fields);
  const stored = await askApi((nova) => nova.credentials.set(owner, name, { kind, values }));
  return { json: stored, text: `${stored.name} (${stored.kind}) is stored` };
}

async function rotate(): Promise<CommandOutput> {
  const { sealed, locked } = await askApi((nova) => nova.credentials.rotate());
  for (const one of locked) printError(`no key decrypts ${one} - store it again`);
  const code = locked.length === 0 ? exitCodes.completed : exitCodes.failed;
  return { json: { sealed, locked }, text: `${sealed} re-encrypted with the new key`, code };
}

export const signers = command({
  summary: "list the public keys that check the signatures of chains, or sign with a new key from now on",
  takes: { "<list|rotate>": "what to do" },
  async run([asked]) {
    const action = actionOf("signers", ["list", "rotate"], asked);
    if (action === "rotate") {
      const added = await askApi((nova) => nova.rotateSigningKey());
      return { json: added, text: `${added.kid} signs from now on; the earlier keys stay published` };
    }
    const { keys } = await askApi((nova) => nova.publicKeys());
    return listed(keys, {
      columns: {
        key: "kid",
        from: ({ nbf }) => secondsText(nbf),
        until: ({ exp }) => (exp === undefined ? "in use" : secondsText(exp)),
      },
      empty: "no signing keys",
    });
  },
});

function secondsText(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

type Values = Record<string, unknown>;

const shape = 'write a JSON object such as {"user": "...", "password": "..."}';

/**
 * Reads the values of a credential: from a JSON file (`-` is standard input), then from every `--set field=text`.
 * Secrets belong in the file, because the shell's history and the process list show command lines.
 */
async function readValues(file: string | undefined, settings: readonly string[]): Promise<Values> {
  const values =
    file === undefined
      ? {}
      : parseValues(file === "-" ? await text(process.stdin) : await readJsonFile(file, "credential"));
  return { ...values, ...Object.fromEntries(settings.map(fieldIn)) };
}

function parseValues(json: string): Values {
  let values: Values;
  try {
    values = JSON.parse(json);
  } catch {
    // The message of the parser is not printed, because it would quote the secret.
    throw new InvalidInput(`the values are not JSON - ${shape}`);
  }
  if (isObjectText(json)) return values;
  throw new InvalidInput(`the values are not an object - ${shape}`);
}

function fieldIn(setting: string): [string, unknown] {
  const at = setting.indexOf("=");
  if (at < 1) throw new InvalidInput(`--set ${setting} has no field and value - write --set user=billing@example.com`);
  const [field, value] = [setting.slice(0, at), setting.slice(at + 1)];
  return [field, /(^|_)port$/.test(field) && /^\d+$/.test(value) ? Number(value) : value];
}

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

/**
 * Merges the changes with the current quotas and stores the result, because the API replaces all quotas of the owner.
 */
async function applyChanges(server: NovaClient, { kind, id, quotas }: QuotaOwner, changes: Quotas): Promise<Quotas> {
  if (Object.keys(changes).length === 0) return quotas;
  const body = { ...quotas, ...changes };
  if (kind === "client") return { ...(await server.clients.change(id, { quotas: body })).quotas };
  return { ...(await server.ask(server.api.PUT("/workflows/{id}/quotas", { params: { path: { id } }, body }))) };
}

interface QuotaOwner {
  kind: "workflow" | "client";
  id: string;
  quotas: Quotas;
}

/**
 * Finds the workflow or client with this name: `workflow:<id>`, `client:<slug>`, or only the name. Throws
 * `InvalidInput` if there is none, or if a workflow and a client both have the name.
 */
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

export type KeyPlace = Pick<NovaClient["keys"], "create" | "list" | "delete">;

const nextId = monotonicFactory();

/**
 * Calls `work` with the API keys of the server in `NOVA_URL`. Without this variable, uses the keys in the table that
 * `NOVA_TABLE` names, so that an operator can make the first key of a deployment. Without both, uses the keys of this
 * machine's cloud.
 */
export async function withKeys<T>(work: (keys: KeyPlace) => Promise<T>): Promise<T> {
  const { NOVA_URL: url, NOVA_TABLE: table, NOVA_DATA_DIR: dataDir } = process.env;
  if (url || !table || dataDir) return askApi(({ keys }) => work(keys));
  const { createServiceStores } = await import("@nova/aws");
  const clock = { now: () => Date.now(), sleep: async () => {} };
  return explainAwsErrors({ table }, async () => work(await keysIn({ ...createServiceStores({ table }), clock })));
}

async function keysIn(ports: KeyPorts): Promise<KeyPlace> {
  const { createKey, deleteKey, everyItem, listKeys } = await import("@nova/service");
  return {
    async create({ client_slug: client, ...asked }) {
      const { key, text = "" } = await createKey(ports, null, defined({ ulid: nextId(), ...asked, client }));
      return { ...itemOf(key), key: text };
    },
    async *list() {
      for await (const key of everyItem((cursor) => listKeys(ports, thisUser(), { limit: 200, cursor })))
        yield itemOf(key);
    },
    async delete(id) {
      await deleteKey(ports, thisUser(), id);
    },
  };
}

function itemOf({ id, role, client, name, identity, createdAt, createdBy }: ApiKey): Key {
  return {
    id,
    role,
    client_slug: client,
    name,
    identity: identity ?? null,
    created_at: createdAt,
    created_by: createdBy,
  };
}
