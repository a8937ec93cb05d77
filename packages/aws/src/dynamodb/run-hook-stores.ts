import type {
  ClientQuotas,
  ClientStore,
  Erasing,
  NodeFigures,
  RunHookStores,
  RunStats,
  SpendingStore,
  StatsStore,
} from "@nova/service";
import type { OnFailure } from "@nova/workflow";
import {
  afterAll,
  beforeAll,
  checkFormat,
  FORMAT,
  findItem,
  indexKeys,
  numbers,
  optionalTexts,
  readEach,
  readSome,
  record,
  requiredText,
  requiredValue,
  requireFormat,
  type Stored,
  type TableConnection,
  tableKeys,
  texts,
  value,
  writeIf,
  writeItem,
} from "./records.ts";
import { createLeafStore } from "./roots.ts";
import { createSlotStore } from "./slots.ts";
import { createWorkflowStates } from "./workflows.ts";

export function createClientStore(connection: TableConnection): ClientStore {
  const clients = clientRecord(connection);
  return {
    create: (client) => writeIf(clients.create(client)),
    get: (slug) => findItem(clients.get({ slug }), clientOf),
    update: (slug, changes) => writeIf(clients.patch({ slug }).set(changes)),
    remove: (slug) => writeItem(clients.delete({ slug })),
    async list({ limit, after = beforeAll }) {
      return (await readSome(clients.query.all({}).gt({ slug: after }), { count: limit })).map(clientOf);
    },
  };
}

function clientOf(item: Stored<typeof clientRecord>) {
  return requireFormat(`client "${item.slug}"`, item);
}

const clientRecord = record(
  "client",
  {
    ...texts("slug", "name", "createdAt"),
    ...optionalTexts("variables", "erasedUntil", "mailFrom"),
    pins: requiredValue<Record<string, number>>(),
    quotas: value<ClientQuotas>(),
    onFailure: value<OnFailure>(),
    erasing: value<Erasing>(),
  },
  { record: tableKeys("CLIENT#{slug}", "CLIENT"), all: indexKeys("by-client", "CLIENTS", "{slug}") },
);

/** Rounds sums to a billionth, because adding binary fractions produces meaningless digits. */
const billionth = 1e9;

/** Model costs per client, month and node. */
export function createSpendingStore(connection: TableConnection): SpendingStore {
  const spending = spendingRecord(connection);
  return {
    async note(client, month, node, usd) {
      const put = spending
        .put({ client, month, ...node, format: FORMAT, usd })
        .where((item, { lt, notExists }) => `${notExists(item.usd)} OR ${lt(item.usd, usd)}`);
      await writeIf(put);
    },
    async ofMonth(client, month) {
      let sum = 0;
      for await (const { format, usd } of readEach(spending.query.record({ client, month }), { consistent: true })) {
        checkFormat(`the spending of client "${client}"`, format);
        sum += usd;
      }
      return Math.round(sum * billionth) / billionth;
    },
  };
}

const spendingRecord = record(
  "spending",
  {
    ...texts("client", "execution", "scope"),
    ...numbers("seq", "usd"),
    /** Year and month, like `2026-11`. */
    month: requiredText,
  },
  { record: tableKeys("M#{client}#{month}", "{execution}#{scope}#{seq}") },
);

/** Statistics of ended runs. */
export function createStatsStore(connection: TableConnection): StatsStore {
  const stats = statsRecord(connection);
  return {
    put: (run) => writeItem(stats.put(run)),
    async *read({ workflow, client, from, to }) {
      const index =
        workflow === undefined ? stats.query.ofClient({ client }) : stats.query.record({ workflowId: workflow });
      const [first, last] = [
        { endedAt: from, execution: beforeAll },
        { endedAt: to, execution: afterAll },
      ];
      for await (const item of readEach(index.between(first, last)))
        if (client === undefined || item.client === client)
          yield requireFormat(`the figures of execution "${item.execution}"`, item);
    },
  };
}

/** Statistics of one run. They are sorted by the end of the run, so that any range of days is one query. */
const statsRecord = record(
  "stats",
  {
    ...texts("execution", "workflowId", "client", "endedAt"),
    ...numbers("version", "durationMs"),
    status: { type: ["completed", "failed", "cancelled", "interrupted"], required: true },
    failure: value<NonNullable<RunStats["failure"]>>(),
    nodes: requiredValue<Record<string, NodeFigures>>(),
  },
  {
    record: tableKeys("F#{workflowId}", "{endedAt}#{execution}"),
    ofClient: indexKeys("by-client", "F#{client}", "{endedAt}#{execution}"),
  },
);

/**
 * Creates the only stores of the service that functions of the engine need: quotas, spending and statistics of runs.
 */
export function createRunHookStores(connection: TableConnection): RunHookStores {
  return {
    clients: createClientStore(connection),
    workflowStates: createWorkflowStates(connection),
    slots: createSlotStore(connection),
    spending: createSpendingStore(connection),
    stats: createStatsStore(connection),
    leaves: createLeafStore(connection),
  };
}
