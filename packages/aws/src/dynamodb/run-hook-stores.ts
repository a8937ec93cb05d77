import type * as service from "@nova/service";
import type { OnFailure } from "@nova/workflow";
import * as db from "./records.ts";
import { createLeafStore } from "./roots.ts";
import { createSlotStore } from "./slots.ts";
import { createWorkflowStates } from "./workflows.ts";

export function createClientStore(connection: db.TableConnection): service.ClientStore {
  const clients = clientRecord(connection);
  return {
    create: (client) => db.writeIf(clients.create(client)),
    get: (slug) => db.findItem(clients.get({ slug }), clientOf),
    update: (slug, changes) => db.writeIf(clients.patch({ slug }).set(changes)),
    remove: (slug) => db.writeItem(clients.delete({ slug })),
    async list({ limit, after = db.beforeAll }) {
      return (await db.readSome(clients.query.all({}).gt({ slug: after }), { count: limit })).map(clientOf);
    },
  };
}

function clientOf(item: db.Stored<typeof clientRecord>) {
  return db.requireFormat(`client "${item.slug}"`, item);
}

const clientRecord = db.record(
  "client",
  {
    ...db.texts("slug", "name", "createdAt"),
    ...db.optionalTexts("variables", "erasedUntil", "mailFrom"),
    pins: db.requiredValue<Record<string, number>>(),
    quotas: db.value<service.ClientQuotas>(),
    onFailure: db.value<OnFailure>(),
    erasing: db.value<service.Erasing>(),
  },
  { record: db.tableKeys("CLIENT#{slug}", "CLIENT"), all: db.indexKeys("by-client", "CLIENTS", "{slug}") },
);

/** Rounds sums to a billionth, because adding binary fractions produces meaningless digits. */
const billionth = 1e9;

/** Creates the store of the costs of models, per client, month and node. */
export function createSpendingStore(connection: db.TableConnection): service.SpendingStore {
  const spending = spendingRecord(connection);
  return {
    async note(client, month, node, usd) {
      const put = spending
        .put({ client, month, ...node, format: db.FORMAT, usd })
        .where((item, { lt, notExists }) => `${notExists(item.usd)} OR ${lt(item.usd, usd)}`);
      await db.writeIf(put);
    },
    async ofMonth(client, month) {
      let sum = 0;
      for await (const { format, usd } of db.readEach(spending.query.record({ client, month }), { consistent: true })) {
        db.checkFormat(`the spending of client "${client}"`, format);
        sum += usd;
      }
      return Math.round(sum * billionth) / billionth;
    },
  };
}

const spendingRecord = db.record(
  "spending",
  {
    ...db.texts("client", "execution", "scope"),
    ...db.numbers("seq", "usd"),
    /** Year and month, like `2026-11`. */
    month: db.requiredText,
  },
  { record: db.tableKeys("M#{client}#{month}", "{execution}#{scope}#{seq}") },
);

/** Creates the store of the statistics of ended runs. */
export function createStatsStore(connection: db.TableConnection): service.StatsStore {
  const stats = statsRecord(connection);
  return {
    put: (run) => db.writeItem(stats.put(run)),
    async *read({ workflow, client, from, to }) {
      const index =
        workflow === undefined ? stats.query.ofClient({ client }) : stats.query.record({ workflowId: workflow });
      const [first, last] = [
        { endedAt: from, execution: db.beforeAll },
        { endedAt: to, execution: db.afterAll },
      ];
      for await (const item of db.readEach(index.between(first, last)))
        if (client === undefined || item.client === client)
          yield db.requireFormat(`the figures of execution "${item.execution}"`, item);
    },
  };
}

/** Statistics of one run. Statistics are sorted by the end of the run, so that one query reads any range of days. */
const statsRecord = db.record(
  "stats",
  {
    ...db.texts("execution", "workflowId", "client", "endedAt"),
    ...db.numbers("version", "durationMs"),
    status: { type: ["completed", "failed", "cancelled", "interrupted"], required: true },
    failure: db.value<NonNullable<service.RunStats["failure"]>>(),
    nodes: db.requiredValue<Record<string, service.NodeFigures>>(),
  },
  {
    record: db.tableKeys("F#{workflowId}", "{endedAt}#{execution}"),
    ofClient: db.indexKeys("by-client", "F#{client}", "{endedAt}#{execution}"),
  },
);

/**
 * Creates the only stores of the service that functions of the engine need: quotas, spending and statistics of runs.
 */
export function createRunHookStores(connection: db.TableConnection): service.RunHookStores {
  return {
    clients: createClientStore(connection),
    workflowStates: createWorkflowStates(connection),
    slots: createSlotStore(connection),
    spending: createSpendingStore(connection),
    stats: createStatsStore(connection),
    leaves: createLeafStore(connection),
  };
}
