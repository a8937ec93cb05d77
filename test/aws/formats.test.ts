import { globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createServiceStores, createTable } from "@nova/aws";
import { surveyAll } from "@nova/service";
import { beforeEach, describe, expect, test } from "vitest";
import { createChainStore } from "../../packages/aws/src/dynamodb/chain/chain-store.ts";
import { createCredentialStore } from "../../packages/aws/src/dynamodb/credentials.ts";
import { documentMethods } from "../../packages/aws/src/dynamodb/document-methods.ts";
import { createExecutionStore } from "../../packages/aws/src/dynamodb/executions.ts";
import { createGenerationStore } from "../../packages/aws/src/dynamodb/generations.ts";
import { createTaskStore } from "../../packages/aws/src/dynamodb/tasks.ts";
import { createWorkflowStore } from "../../packages/aws/src/dynamodb/workflows.ts";
import { itemKinds } from "../../packages/aws/src/formats.ts";
import { root } from "../support/imports.ts";
import { useBucket, useTable } from "./support/endpoints.ts";

const samples = join(root, "test/fixtures/formats");

/**
 * A sample from the time when format 1 was defined: values and their stored items. Never regenerate the file of a
 * sample, because the sample shows that NOVA can still read records that it stored earlier.
 */
interface Sample {
  // biome-ignore lint/suspicious/noExplicitAny: each sample has its own values
  values: any;
  items: { pk: string; sk: string; [name: string]: unknown }[];
}

function readSample(file: string): Sample {
  const {
    value,
    values = value,
    session,
    item,
    items = [item],
  } = JSON.parse(readFileSync(join(samples, file), "utf8"));
  return { values: session ?? values, items };
}

const server = useTable();
const bucket = useBucket();
const table = { ...server };
let tables = 0;
beforeEach(async () => {
  Object.assign(table, { client: server.client, table: `nova-formats-${tables++}` });
  await createTable(table.client, table.table);
});

function openStores() {
  const workflows = createWorkflowStore(table, bucket);
  return {
    ...createServiceStores({ ...table, bucket }),
    workflows,
    chain: createChainStore(table),
    executions: createExecutionStore(table, workflows),
    tasks: createTaskStore(table),
    generations: createGenerationStore(table),
    credentials: createCredentialStore(table),
  };
}

type Stores = ReturnType<typeof openStores>;

async function putItems(items: object[]): Promise<void> {
  for (const Item of items) await documentMethods(table.client).put({ TableName: table.table, Item }).promise();
}

interface Case {
  file: string;
  /** The values that `read` must return for the items. */
  reads(values: Sample["values"]): unknown;
  read(stores: Stores, values: Sample["values"]): Promise<unknown>;
  write(stores: Stores, values: Sample["values"]): Promise<unknown>;
  /** Functions that read the items, by name. Each of them must throw an error if the items have format 2. */
  refused: Record<string, (stores: Stores, values: Sample["values"]) => Promise<unknown>>;
}

const inChain = { execution: "exec_01", scope: "", seq: 1 };
const range = (workflow: string) => ({ workflow, from: "2026", to: "2027" });
const beforeExpiry = ({ expiresAt }: { expiresAt: number }) => (expiresAt - 10) * 1000;

const cases: Case[] = [
  {
    file: "dynamodb-1.json",
    reads: ({ links, step, execution, version }) => [links, [step], execution, version],
    async read({ chain, executions, workflows }, { links }) {
      const found = [];
      for (const scope of new Set<string>(links.map((link: { scope: string }) => link.scope)))
        for await (const link of chain.links("exec_01", scope)) found.push({ scope, ...link });
      const steps = await chain.steps(inChain);
      return [found, steps, await executions.get("exec_01"), await workflows.latest("invoice")];
    },
    async write({ chain, executions, workflows }, { links, step, execution, version }) {
      for (const { turn, entry, scope, seq } of links) {
        const at = { execution: "exec_01", scope, seq };
        if (turn) await chain.putTurn(at, turn, null);
        if (entry) await chain.putEntry(at, entry);
      }
      await chain.putStep(inChain, step);
      await executions.create(execution);
      await workflows.create(version);
    },
    refused: {
      "a link": ({ chain }) => chain.read(inChain),
      "an execution": ({ executions }) => executions.get("exec_01"),
      "a version": ({ workflows }) => workflows.get("invoice", 3),
    },
  },
  {
    file: "child-1.json",
    reads: (child) => child,
    read: ({ executions }, { id }) => executions.get(id),
    write: ({ executions }, child) => executions.create(child),
    refused: {},
  },
  {
    file: "generations-1.json",
    reads: (all) => [all, [all[0]], [all[1]]],
    read: async ({ generations }) => [
      await generations.ofWorkflow("bills"),
      await generations.of("bills", "sum", null),
      await generations.of("bills", "sum", "acme"),
    ],
    async write({ generations }, all) {
      for (const one of all) await generations.create(one);
    },
    refused: { "a generation": ({ generations }) => generations.ofWorkflow("bills") },
  },
  {
    file: "generations-1-analysis.json",
    reads: (twoStages) => [twoStages],
    read: ({ generations }) => generations.ofWorkflow("bills"),
    write: ({ generations }, twoStages) => generations.create(twoStages),
    refused: {},
  },
  {
    file: "credentials-1.json",
    reads: ([ofClient, ofWorkflow]) => [[ofClient], ofWorkflow],
    read: async ({ credentials }, [, ofWorkflow]) => [
      await credentials.list({ client: "acme" }),
      await credentials.get(ofWorkflow),
    ],
    async write({ credentials }, all) {
      for (const one of all) await credentials.put(one);
    },
    refused: { "a credential": ({ credentials }, [, ofWorkflow]) => credentials.get(ofWorkflow) },
  },
  {
    file: "publishing-1.json",
    reads: ({ publications, upload, client }) => {
      const { workflowId, version } = publications[2];
      return [publications, [expect.objectContaining({ workflowId, version })], upload, client];
    },
    read: async ({ publications, uploads, clients }, values) => [
      await Promise.all(values.publications.map(publications.get)),
      await Array.fromAsync(publications.pending()),
      await uploads.get(values.upload.id),
      await clients.get(values.client.slug),
    ],
    async write({ publications, uploads, clients }, values) {
      for (const { reason: _, ...one } of values.publications)
        await publications.create({ ...one, status: "publishing" });
      const [ready, failed] = values.publications;
      await publications.settle(ready, { status: "ready" });
      await publications.settle(failed, { status: "failed", reason: failed.reason });
      await uploads.create(values.upload);
      const { erasing, ...client } = values.client;
      await clients.create(client);
      if (erasing) await clients.update(client.slug, { erasing });
    },
    refused: {
      "a publication": (stores, { publications }) => stores.publications.get(publications[0]),
      "an upload": ({ uploads }, { upload }) => uploads.get(upload.id),
    },
  },
  {
    file: "sessions-1.json",
    reads: ({ state, ...summary }) => [{ state, ...summary }, [summary], [summary], [], [summary], []],
    read: async ({ sessions }, { id, client, expiresAt, createdAt }) => [
      await sessions.get(id),
      await sessions.list({ limit: 9 }),
      await sessions.list({ limit: 9, client }),
      await sessions.list({ limit: 9, client: "other" }),
      await Array.fromAsync(sessions.expired(expiresAt)),
      await Array.fromAsync(sessions.expired(createdAt)),
    ],
    write: ({ sessions }, session) => sessions.create(session),
    refused: { "a session": ({ sessions }, { id }) => sessions.get(id) },
  },
  {
    file: "tasks-1.json",
    reads: ({ tasks, token, voter }) => [tasks, tasks[1], [tasks[0]], [token], { ...voter, version: 1 }],
    read: async ({ tasks }, { tasks: [open, sent] }) => [
      await tasks.ofExecution(open.execution),
      await tasks.find(sent.id),
      await Array.fromAsync(tasks.pending()),
      await tasks.tokens(open),
      await tasks.voter(open.execution, "cfo@acme.com"),
    ],
    async write({ tasks }, values) {
      for (const task of values.tasks) await tasks.create(task);
      await tasks.putToken(values.tasks[0], values.token);
      await tasks.putVoter(values.tasks[0], "cfo@acme.com", values.voter);
    },
    refused: {
      "a task": (stores, { tasks }) => stores.tasks.get(tasks[0]),
      "a token": (stores, { tasks }) => stores.tasks.tokens(tasks[0]),
      "the votes of a person": (stores, { tasks }) => stores.tasks.voter(tasks[0].execution, "cfo@acme.com"),
    },
  },
  {
    file: "triggers-1.json",
    reads: ({ triggers, deliveries: [started, refused] }) => [triggers, started, [refused]],
    read: async ({ triggers, deliveries }, values) => [
      await Promise.all(values.triggers.map(({ key }: { key: string }) => triggers.get(key))),
      await deliveries.begin({ ...values.deliveries[0], id: "other" }),
      await deliveries.list({ workflow: null, limit: 1 }),
    ],
    async write({ triggers, deliveries }, values) {
      for (const { pause, ...live } of values.triggers) {
        await triggers.put(live);
        if (pause) await triggers.pause(live, pause);
      }
      for (const delivery of values.deliveries) await deliveries.begin(delivery);
    },
    refused: {
      "a trigger": (stores, { triggers }) => stores.triggers.get(triggers[0].key),
      "a delivery": (stores, { deliveries }) => stores.deliveries.begin({ ...deliveries[0], id: "other" }),
      "a list of deliveries": ({ deliveries }) => deliveries.list({ workflow: null, limit: 1 }),
    },
  },
  {
    file: "lookout-1.json",
    reads: ({ stats, ticket, holder, usd }) => [[stats], [ticket], [holder], usd],
    read: async ({ stats, slots, spending }, { stats: one, ticket, month }) => [
      await Array.fromAsync(stats.read(range(one.workflowId))),
      await Array.fromAsync(slots.waiting(ticket.pools[0])),
      await slots.taken(ticket.pools[0]),
      await spending.ofMonth(one.client, month),
    ],
    async write({ stats, slots, spending }, { stats: one, ticket, holder, month, usd }) {
      await stats.put(one);
      await slots.enqueue(ticket);
      await slots.take(ticket.pools[0], holder, "01KATESTTESTTESTTESTTESTT9", 1);
      await spending.note(one.client, month, { execution: ticket.execution, scope: "/each@1.0", seq: 2 }, usd);
    },
    refused: {
      statistics: (stores, { stats }) => Array.fromAsync(stores.stats.read(range(stats.workflowId))),
      "a ticket": ({ slots }, { ticket }) => Array.fromAsync(slots.waiting(ticket.pools[0])),
      spending: ({ spending }, { stats, month }) => spending.ofMonth(stats.client, month),
    },
  },
  {
    file: "trees-1.json",
    reads: ({ leaf, roots, stamp, note, check }) => [
      check,
      [leaf],
      [roots.toReversed(), [stamp]],
      [note],
      new Map([[leaf.execution, note]]),
    ],
    read: async ({ rootStore, chain, dailyChecks }, { leaf }) => [
      await dailyChecks.read(),
      await rootStore.pending(9),
      [await rootStore.list({ limit: 9 }), await rootStore.stamps({ limit: 9 })],
      await chain.notes(leaf.execution),
      await chain.rootNotes([leaf.execution, "exec_02"]),
    ],
    async write({ rootStore, leaves, chain, dailyChecks }, { leaf, roots, stamp, note, check }) {
      await dailyChecks.write(check, undefined);
      await leaves.put(leaf);
      for (const root of roots) await rootStore.create(root);
      await rootStore.createStamp(stamp);
      await chain.putNote(leaf.execution, note);
    },
    refused: {
      "a leaf": ({ rootStore }) => rootStore.pending(1),
      "a root": ({ rootStore }) => rootStore.list({ limit: 1 }),
      "a stamp": ({ rootStore }) => rootStore.stamps({ limit: 1 }),
      "a daily check": ({ dailyChecks }) => dailyChecks.read(),
      "a root note": ({ chain }, { leaf }) => chain.rootNotes([leaf.execution]),
    },
  },
  {
    file: "service-1.json",
    reads: ({ keys, audit, client, state, attempt }) => [
      [keys, keys[1]],
      [audit.toReversed(), [audit[1]]],
      [client, [client]],
      state,
      attempt,
    ],
    read: async ({ keys, audit, clients, workflowStates, attempts }, values) => [
      [await keys.list({ limit: 9 }), await keys.get(values.keys[1].id)],
      [await audit.list({ limit: 9 }), await audit.list({ limit: 9, client: "acme" })],
      [await clients.get("acme"), await clients.list({ limit: 9 })],
      await workflowStates.get("invoice"),
      await attempts.begin({ ...values.attempt, id: "other" }, beforeExpiry(values.attempt)),
    ],
    async write({ keys, audit, clients, workflowStates, attempts }, values) {
      for (const key of values.keys) await keys.create(key);
      for (const record of values.audit) await audit.append(record);
      await clients.create(values.client);
      await workflowStates.set("invoice", { active: 2, deleted: 1 });
      const { made = "", ...attempt } = values.attempt;
      await attempts.begin(attempt, beforeExpiry(attempt));
      await attempts.finish(attempt, made);
    },
    refused: {
      "a key": (stores, { keys }) => stores.keys.get(keys[0].id),
      "the audit log": ({ audit }) => audit.list({ limit: 1 }),
      "a client": ({ clients }) => clients.get("acme"),
      "the state of a workflow": ({ workflowStates }) => workflowStates.get("invoice"),
      "an attempt": ({ attempts }, { attempt }) => attempts.begin({ ...attempt, id: "other" }, beforeExpiry(attempt)),
    },
  },
];

const byKey = (a: { pk?: string; sk?: string }, b: { pk?: string; sk?: string }) =>
  `${a.pk}${a.sk}` < `${b.pk}${b.sk}` ? -1 : 1;

describe.each(cases)("the stored records in $file", ({ file, reads, read, write, refused }) => {
  const { values, items } = readSample(file);

  test("are read from the sample items of format 1 with the values of the sample", async () => {
    await putItems(items);
    expect(await read(openStores(), values)).toEqual(reads(values));
  });

  test("are written exactly like the sample items of format 1", async () => {
    await write(openStores(), values);
    const { Items } = await documentMethods(table.client).scan({ TableName: table.table }).promise();
    expect((Items as typeof items).sort(byKey)).toEqual(items.toSorted(byKey));
  });

  test.each(Object.entries(refused))(
    "are refused in format 2 with the advice to update NOVA (%s)",
    async (_what, readOne) => {
      await putItems(items.map((item) => ({ ...item, format: 2 })));
      await expect(readOne(openStores(), values)).rejects.toThrow(/stored in format 2.*update NOVA/);
    },
  );
});

describe("the survey of stored formats", () => {
  test("knows every kind of item that NOVA writes", () => {
    const written = globSync(join(root, "packages/aws/src/**/*.ts")).flatMap((path) => {
      const text = readFileSync(path, "utf8");
      const named = text.matchAll(/record\(\s*"([\w-]+)"|commonValues\(at, "([\w-]+)"/g);
      return Array.from(named, ([, mapped, plain]) => mapped ?? plain);
    });
    const byHand = ["rate", "slots"];
    expect([...itemKinds].sort()).toEqual([...new Set([...written, ...byHand])].sort());
  });

  test("counts the stored items by kind and format, and can read every sample item", async () => {
    const files = readdirSync(samples).filter((name) => name.endsWith(".json"));
    const frozen = files.flatMap((name) => readSample(name).items).filter((item) => item !== undefined && "pk" in item);
    expect(frozen.length).toBeGreaterThan(10);
    await putItems(frozen);
    const stored = await surveyAll(createServiceStores(table));
    expect(stored.filter(({ state }) => state !== "current")).toEqual([]);
    const kinds = new Set(frozen.map((item) => item.__edb_e__ ?? "slots"));
    expect(new Set(stored.map(({ entity }) => entity))).toEqual(kinds);
    const distinct = new Set(frozen.map(({ pk, sk }) => `${pk} ${sk}`));
    expect(stored.reduce((sum, { items }) => sum + items, 0)).toBe(distinct.size);
  });

  test.each([
    ["an item of a newer format", { __edb_e__: "link", format: 2 }, "newer"],
    ["an item of an unknown kind", { __edb_e__: "wish", format: 1 }, "unknown"],
    ["a counter of requests", { pk: "R#key_1", format: 1 }, "current"],
    ["an item with the taken slots of a pool", { sk: "SLOTS", format: 1 }, "current"],
    ["an item without a format number", { __edb_e__: "link" }, "unknown"],
  ])("recognises whether the format of an item is current, newer or unknown: %s", async (_what, item, state) => {
    await putItems([{ pk: "X", sk: "X", ...item }]);
    const { format = null } = item as { format?: number };
    expect(await surveyAll(createServiceStores(table))).toContainEqual({
      entity: expect.any(String),
      format,
      items: 1,
      state,
    });
  });
});
