import { deepestNesting, measureOf, membersOf, objectText } from "@nova/engine";
import { defined } from "@nova/workflow/defined";
import { demandAllClients, digestOf, keyText, newSecret, reaches } from "../access/authenticate.ts";
import { recordDeed } from "../audit/audit.ts";
import { Conflict, NotFound, Refused } from "../errors.ts";
import { demandMail } from "../notices/notices.ts";
import { type Client, defaultClient } from "../ports/clients.ts";
import type { ApiKey, Principal, Role, ServicePorts } from "../ports/index.ts";
import { everyListed, type PageQuery, type Range, readPage } from "../ports/page.ts";
import { fillPools, type QueuePorts } from "../quotas/fill.ts";
import { poolName } from "../quotas/pools.ts";
import { demandMachine } from "../workflows/find.ts";

const maxVariables = 100;
const maxBytes = 64 * 1024;
/** Pattern of a variable's name: a valid Python name, so templates and code can use variables without quotes. */
const nameOfVariable = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

/** Throws `Refused` if `variables`, the JSON text of an object, cannot become part of a run's initial context. */
export function checkVariables(variables: string): void {
  const members = membersOf(variables);
  const odd = members.find(({ key }) => !nameOfVariable.test(key));
  if (odd) {
    const name = JSON.stringify(odd.key.slice(0, 80));
    throw new Refused(`variable ${name} cannot be a name - use letters, digits and _, at most 64, no digit first`);
  }
  const upload = members.find(({ json }) => json.includes('"$upload"'));
  if (upload)
    throw new Refused(`variable "${upload.key}" names an upload, which lives for a day - send it with each run`);
  if (members.length > maxVariables) {
    throw new Refused(
      `a client has at most ${maxVariables} variables, not ${members.length} - put some into an object`,
    );
  }
  const { depth } = measureOf(variables);
  if (depth > deepestNesting) {
    throw new Refused(
      `variables are nested at most ${deepestNesting} levels deep, as contexts are, not ${depth} - make them flatter`,
    );
  }
  const bytes = Buffer.byteLength(variables);
  if (bytes > maxBytes) throw new Refused(`variables have at most ${maxBytes} bytes, not ${bytes} - send less`);
}

/**
 * Builds a run's initial context: the client's variables, overridden by the request. All values keep their original
 * text.
 */
export function withVariables(variables: string | undefined, context: string): string {
  if (variables === undefined) return context;
  const sent = membersOf(context);
  const keys = new Set(sent.map(({ key }) => key));
  return objectText([...membersOf(variables).filter(({ key }) => !keys.has(key)), ...sent]);
}

type ClientPorts = Pick<ServicePorts, "clients" | "audit" | "clock">;

/**
 * Creates a client. Throws `Conflict` if the slug is taken, or if records of an earlier client remain under it. Throws
 * `Forbidden` if the caller's key is for one client.
 */
export async function createClient(ports: ClientPorts, by: Principal, { slug, name }: Pick<Client, "slug" | "name">) {
  demandAllClients(by);
  await demandUnused(ports, slug);
  const client: Client = { format: 1, slug, name, pins: {}, createdAt: new Date(ports.clock.now()).toISOString() };
  if (slug === defaultClient || !(await ports.clients.create(client))) {
    throw new Conflict(`there is a client "${slug}" already - choose another slug`);
  }
  await recordDeed(ports, by, { action: "client.created", client: slug, subject: slug });
  return client;
}

/**
 * Throws `Conflict` if records of an erased client remain under this slug: a new client must not inherit them. The
 * index may lag, but a deletion is recorded long before the erasure ends, so the index shows the deletion by now. Newer
 * records may follow the record of the deletion, so the function searches all records of the slug.
 */
async function demandUnused({ audit }: Pick<ServicePorts, "audit">, slug: string): Promise<void> {
  const list = (range: Range) => audit.list({ ...range, client: slug });
  for await (const { action, at } of everyListed(list, ({ id }) => id)) {
    if (action !== "client.erased" && action !== "client.deleted") continue;
    const [what, day] = [action.slice("client.".length), at.slice(0, "2026-11-22".length)];
    throw new Conflict(`client "${slug}" was ${what} on ${day}, and its emptied records stay - choose another slug`);
  }
}

/** Finds a client. Throws the same `NotFound` if the client does not exist, or is out of the caller's reach. */
export async function clientOf(ports: Pick<ServicePorts, "clients">, by: Principal | null, slug: string) {
  const client = await ports.clients.get(slug);
  if (!client || (by && !reaches(by, slug))) throw noClient(slug);
  return client;
}

/** Finds a client as `clientOf` does, but also accepts the default client, which has no record. */
export async function demandClient(ports: Pick<ServicePorts, "clients">, by: Principal | null, slug: string) {
  if (slug !== defaultClient) return demandNotErasing(await clientOf(ports, by, slug));
  if (by && !reaches(by, slug)) throw noClient(slug);
  return undefined;
}

const defaultClientRefusal = `nothing is kept of "${defaultClient}", the client of runs without one - on_failure belongs into the definitions of their workflows, quotas to PUT /workflows/{id}/quotas; or make a client and start their runs for it`;

/**
 * Changes a client. New pins replace all old pins, new variables all old variables, and new quotas all old quotas. If
 * the new quotas have room for queued runs, these runs start. Throws `NotFound`, and `Conflict` for a client that is
 * being erased. Throws `Refused` for the default client, unknown versions, invalid variables, and mail addresses if no
 * mail is configured. Throws `Forbidden` if the key of one client changes quotas or the sender address.
 */
export async function changeClient(
  ports: ClientPorts & QueuePorts & Pick<ServicePorts, "workflows" | "machineVersions" | "mailer">,
  by: Principal,
  slug: string,
  changes: Partial<Pick<Client, "name" | "pins" | "variables" | "quotas" | "onFailure" | "mailFrom">>,
): Promise<Client> {
  if (slug === defaultClient && reaches(by, slug)) throw new Refused(defaultClientRefusal);
  demandNotErasing(await clientOf(ports, by, slug));
  // Only keys for all clients set quotas and sender addresses: a client must not send mail from an address that it does
  // not own.
  if (changes.quotas || changes.mailFrom !== undefined) demandAllClients(by);
  demandMail(ports, changes.onFailure);
  if (changes.variables !== undefined) checkVariables(changes.variables);
  for (const [workflow, version] of Object.entries(changes.pins ?? {})) {
    const pinned = await ports.workflows.get(workflow, version);
    if (!pinned) {
      throw new Refused(
        `workflow "${workflow}" has no version ${version} - pin one that GET /workflows/${workflow}/versions lists`,
      );
    }
    await demandMachine(ports, pinned);
  }
  if (!(await ports.clients.update(slug, changes))) throw noClient(slug);
  await recordDeed(ports, by, { action: "client.changed", client: slug, subject: slug });
  if (changes.quotas) await fillPools(ports, [poolName({ client: slug })]);
  return clientOf(ports, by, slug);
}

/** Lists clients, sorted by slug. With the key of one client, it lists only that client. */
export async function listClients({ clients }: Pick<ServicePorts, "clients">, by: Principal, query: PageQuery) {
  if (by.client === null) return readPage(query, clients.list, ({ slug }) => slug);
  const own = await clients.get(by.client);
  return { items: own ? [own] : [] };
}

export function listAllClients({ clients }: Pick<ServicePorts, "clients">): AsyncGenerator<Client> {
  return everyListed(clients.list, ({ slug }) => slug);
}

function demandNotErasing(client: Client): Client {
  if (!client.erasing) return client;
  throw new Conflict(`client "${client.slug}" was deleted and is being erased - nothing begins for it any more`);
}

function noClient(slug: string): NotFound {
  return new NotFound(`there is no client "${slug}" - GET /clients lists them`);
}

export interface KeyRequest {
  ulid: string;
  role: Role;
  /** The client of the new key; absent: the client of the caller's key. */
  client?: string;
  name?: string;
  /** Mail address of the person for whom the key answers approvals. Absent: the key proves no identity. */
  identity?: string;
}

export interface NewKey {
  key: ApiKey;
  /** The whole key, shown only once; absent in the answer to a repeated request. */
  text?: string;
}

export type KeyPorts = Pick<ServicePorts, "keys" | "clients" | "audit" | "clock">;

/**
 * Makes a key. `by` is null for the operator who sets NOVA up. Throws `NotFound` if the client does not exist or is out
 * of the caller's reach.
 */
export async function createKey(ports: KeyPorts, by: Principal | null, request: KeyRequest): Promise<NewKey> {
  const client = request.client ?? by?.client ?? null;
  if (client !== null) await demandClient(ports, by, client);
  const secret = newSecret();
  const key: ApiKey = {
    format: 1,
    id: `key_${request.ulid}`,
    role: request.role,
    client,
    name: request.name ?? "",
    ...defined({ identity: request.identity?.toLowerCase() }),
    digest: digestOf(secret),
    createdAt: new Date(ports.clock.now()).toISOString(),
    createdBy: by?.id ?? null,
  };
  const { role, identity } = key;
  if (!(await ports.keys.create(key))) return { key: (await ports.keys.get(key.id)) ?? key };
  const detail = { role, ...defined({ identity }) };
  await recordDeed(ports, by, { action: "key.created", client, subject: key.id, detail });
  return { key, text: keyText({ id: key.id, secret }) };
}

/**
 * Deletes a key. Throws `NotFound`. Throws `Conflict` for the caller's own key, since the caller could not undo that
 * deletion.
 */
export async function deleteKey(ports: KeyPorts, by: Principal, id: string): Promise<void> {
  const key = await ports.keys.get(id);
  if (!key || !reaches(by, key.client)) throw new NotFound(`there is no key "${id}" - GET /keys lists them`);
  if (id === by.id) throw new Conflict("a key cannot delete itself - use another admin key");
  if (!(await ports.keys.remove(id))) return;
  await recordDeed(ports, by, { action: "key.deleted", client: key.client, subject: id, detail: { role: key.role } });
}

/** Lists keys, oldest first. With the key of one client, it lists only the keys of that client. */
export function listKeys({ keys }: Pick<KeyPorts, "keys">, { client }: Principal, query: PageQuery) {
  const list = (range: Range) => keys.list({ ...range, client: client ?? undefined });
  return readPage(query, list, ({ id }) => id);
}
