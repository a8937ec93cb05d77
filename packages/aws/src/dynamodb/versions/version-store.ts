import type { WorkflowStore, WorkflowVersion } from "@nova/engine";
import type { HistoryBudget } from "@nova/workflow";
import { LRUCache } from "lru-cache";
import { reaching, reachingIf } from "../../clients/outage.ts";
import type { BucketConnection } from "../../s3/connection.ts";
import type { TableConnection } from "../connection.ts";
import { checkFormat, FORMAT } from "../format.ts";
import { consistently, plainly, store } from "../options.ts";
import { whenAsked } from "../when-asked.ts";
import { workflowIds } from "../workflow-ids.ts";
import { readDefinition, storeDefinition } from "./definitions.ts";
import { type VersionItem, versionEntity } from "./version-entity.ts";

const cachedVersions = 200;
/** Definitions that are read from S3 at the same time. */
const readAtOnce = 50;

/** Published versions. They never change, so a warm Lambda reads each of them once. */
export function createWorkflowStore(connection: TableConnection, bucket: BucketConnection): WorkflowStore {
  const entity = whenAsked(() => versionEntity(connection));
  const cache = new LRUCache<string, WorkflowVersion>({ max: cachedVersions });
  const remember = (version: WorkflowVersion) => {
    cache.set(cacheKey(version.workflowId, version.version), version);
    return version;
  };
  const known = async (item: VersionItem) =>
    cache.get(cacheKey(item.workflowId, item.version)) ?? (await materialise(bucket, item));
  const versionOf = async (item: VersionItem) => remember(await known(item));

  const itemOf = async (workflowId: string, version: number) =>
    (await reaching(store, () => entity.get({ workflowId, version }).go(consistently))).data;

  return {
    async get(workflowId, version) {
      const cached = cache.get(cacheKey(workflowId, version));
      if (cached) return cached;
      const item = await itemOf(workflowId, version);
      return item ? versionOf(item) : undefined;
    },
    async stored(workflowId, version) {
      const item = await itemOf(workflowId, version);
      return item ? materialise(bucket, item) : undefined;
    },
    async latest(workflowId) {
      const newest = { ...consistently, order: "desc", limit: 1 } as const;
      const { data } = await reaching(store, () => entity.query.record({ workflowId }).go(newest));
      return data[0] && versionOf(data[0]);
    },
    async create({ workflow, history, ...version }) {
      const definition = await storeDefinition(bucket, { ...version, workflow });
      const budget = history && { history: JSON.stringify(history) };
      return reachingIf(store, () => entity.create({ ...version, ...definition, ...budget }).go(plainly));
    },
    ids: (after) => workflowIds((last) => entity.query.all({}).gt(last), after),
    async *everyVersion() {
      let cursor: string | null = null;
      do {
        const page = await reaching(store, () => entity.query.all({}).go({ ...plainly, cursor, limit: readAtOnce }));
        yield* await Promise.all(page.data.map(known));
        cursor = page.cursor;
      } while (cursor);
    },
  };
}

function cacheKey(workflowId: string, version: number): string {
  return `${workflowId}#${version}`;
}

async function materialise(bucket: BucketConnection, item: VersionItem): Promise<WorkflowVersion> {
  const { definition, format, history, ...version } = item;
  checkFormat(`version ${item.version} of workflow "${item.workflowId}"`, format);
  const workflow = await readDefinition(bucket, item);
  return { ...version, format: FORMAT, workflow, ...(history && { history: JSON.parse(history) as HistoryBudget }) };
}
