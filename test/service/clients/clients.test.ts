import { type AuditRecord, type Client, Conflict, changeClient, createClient, type ServicePorts } from "@nova/service";
import { beforeEach, describe, expect, it } from "vitest";
import { checkVariables, withVariables } from "../../../packages/service/src/clients/clients.ts";
import { Refused } from "../../../packages/service/src/errors.ts";

const ann = { id: `key_${"0".repeat(26)}`, role: "admin", client: null, name: "ann" } as const;
const now = Date.parse("2026-01-02T00:00:00Z");

let clients: Map<string, Client>;
/** Audit records, newest first. */
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

describe("the slug of an erased client", () => {
  it.each([0, 1, 199, 200, 450])("cannot be used again, even after %i later audit records", async (behind) => {
    deed("client.erased");
    for (let n = 0; n < behind; n++) deed("client.changed");
    await expect(create()).rejects.toThrow(
      /^client "acme" was erased on 2026-01-02, and its emptied records stay - choose another slug$/,
    );
    expect(clients.size).toBe(0);
    await create("other");
  });

  it("cannot be given to a new client after the audit log shows that the client was deleted", async () => {
    deed("client.deleted");
    deed("key.deleted");
    await expect(create()).rejects.toThrow(/was deleted on 2026-01-02/);
  });

  it("can be given to a new client if all audit records for the slug are about API keys", async () => {
    for (let n = 0; n < 201; n++) deed("key.created");
    expect(await create()).toMatchObject({ slug: "acme" });
  });
});

describe("the record of a client that is being erased", () => {
  it("cannot be changed", async () => {
    const client = await create();
    const at = new Date(now).toISOString();
    clients.set("acme", { ...client, erasing: { by: ann.id, since: at, part: "executions" } });
    await expect(changeClient(ports(), ann, "acme", { name: "Acme Ltd" })).rejects.toThrow(Conflict);
    expect([clients.get("acme")?.name, deeds.map(({ action }) => action)]).toEqual(["acme", ["client.created"]]);
  });
});

describe("the initial context of a run", () => {
  it.each([
    ["stays as it was written if its client has no variables", undefined, '{ "a": 1.0 }', '{ "a": 1.0 }'],
    ["starts with the client's variables", '{"company":"ACME"}', '{"total":850.0}', '{"company":"ACME","total":850.0}'],
    [
      "takes the request's value for a key that the client's variables also contain",
      '{"limit":1000,"company":"ACME"}',
      '{"limit":5}',
      '{"company":"ACME","limit":5}',
    ],
    [
      "keeps the exact numbers of variables",
      '{"account": 12345678901234567890}',
      "{}",
      '{"account":12345678901234567890}',
    ],
    [
      "takes a null of the request instead of the value of a variable",
      '{"limit":1000}',
      '{"limit":null}',
      '{"limit":null}',
    ],
    ["is empty if the variables and the request are empty", "{}", "{}", "{}"],
  ])("consists of the client's variables and the request's context: it %s", (_what, variables, context, whole) => {
    expect(withVariables(variables, context)).toBe(whole);
  });
});

describe("variables of a client", () => {
  const nested = (depth: number) => `{"a":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;

  it.each(["{}", '{"company":"ACME"}', nested(500), '{"_a1":{"deep":["x",null]}}', `{"long":"${"x".repeat(60_000)}"}`])(
    "%.40s are accepted",
    (variables) => expect(() => checkVariables(variables)).not.toThrow(),
  );

  it.each([
    ["with a name that is invalid in Python", '{"1st":1}', /"1st" cannot be a name - use letters/],
    ["with an empty name", '{"":1}', /"" cannot be a name/],
    ["with a name that is too long", JSON.stringify({ ["x".repeat(65)]: 1 }), /at most 64/],
    ["that name an upload", '{"logo":{"$upload":"upl_01"}}', /"logo" names an upload.* - send it with each run/],
    [
      "that name an upload in a nested value",
      '{"brand":[{"logo":{ "$upload" : "upl_01"}}]}',
      /"brand" names an upload/,
    ],
    [
      "of which there are more than 100",
      JSON.stringify(Object.fromEntries(many(101))),
      /at most 100 variables, not 101/,
    ],
    ["that are nested deeper than a context", nested(501), /at most 500 levels deep.*not 501 - make them flatter/],
    ["that are too large", JSON.stringify({ text: "ü".repeat(33_000) }), /at most 65536 bytes, not 66011/],
  ])("%s are refused", (_what, variables, reason) => {
    expect(() => checkVariables(variables)).toThrow(Refused);
    expect(() => checkVariables(variables)).toThrow(reason);
  });
});

function many(count: number): [string, number][] {
  return Array.from({ length: count }, (_, i) => [`v${i}`, i]);
}
