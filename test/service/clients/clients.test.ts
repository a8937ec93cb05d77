import { type AuditRecord, type Client, Conflict, changeClient, createClient, type ServicePorts } from "@nova/service";
import { beforeEach, describe, expect, it } from "vitest";

const ann = { id: `key_${"0".repeat(26)}`, role: "admin", client: null, name: "ann" } as const;
const now = Date.parse("2026-01-02T00:00:00Z");

let clients: Map<string, Client>;
/** Newest first. */
let deeds: AuditRecord[];
beforeEach(() => {
  clients = new Map();
  deeds = [];
});

const ports = () =>
  ({
    clients: {
      create: async (client: Client) => !clients.has(client.slug) && clients.set(client.slug, client) !== undefined,
      get: async (slug: string) => clients.get(slug),
      update: async (slug: string, changes: Partial<Client>) => {
        const there = clients.get(slug);
        if (there) clients.set(slug, { ...there, ...changes });
        return there !== undefined;
      },
    },
    audit: {
      append: async (deed: AuditRecord) => void deeds.unshift(deed),
      list: async ({ client, limit, after = "~" }: { client: string; limit: number; after?: string }) =>
        deeds.filter((deed) => deed.client === client && deed.id < after).slice(0, limit),
    },
    clock: { now: () => now, sleep: async () => undefined },
  }) as unknown as ServicePorts;

const create = (slug = "acme") => createClient(ports(), ann, { slug, name: slug });
const deed = (action: AuditRecord["action"]) => {
  const id = `${deeds.length}`.padStart(6, "0");
  const at = new Date(now).toISOString();
  deeds.unshift({ format: 1, id, at, action, by: null, client: "acme", subject: "acme", detail: {} });
};

describe("the slug of a client that was erased", () => {
  it.each([0, 1, 199, 200, 450])("is nobody else's, with %i deeds behind that", async (behind) => {
    deed("client.erased");
    for (let n = 0; n < behind; n++) deed("client.changed");
    await expect(create()).rejects.toThrow(
      /^client "acme" was erased on 2026-01-02, and its emptied records stay - choose another slug$/,
    );
    expect(clients.size).toBe(0);
    await create("other");
  });

  it("is nobody else's before the audit shows more than that it was deleted", async () => {
    deed("client.deleted");
    deed("key.deleted");
    await expect(create()).rejects.toThrow(/was deleted on 2026-01-02/);
  });

  it("was none where only keys of it are known", async () => {
    for (let n = 0; n < 201; n++) deed("key.created");
    expect(await create()).toMatchObject({ slug: "acme" });
  });
});

describe("a client that is being erased", () => {
  it("is not changed any more", async () => {
    const client = await create();
    const at = new Date(now).toISOString();
    clients.set("acme", { ...client, erasing: { by: ann.id, since: at, part: "executions" } });
    await expect(changeClient(ports(), ann, "acme", { name: "Acme Ltd" })).rejects.toThrow(Conflict);
    expect([clients.get("acme")?.name, deeds.map(({ action }) => action)]).toEqual(["acme", ["client.created"]]);
  });
});
