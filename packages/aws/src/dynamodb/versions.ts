import type { WorkflowStore, WorkflowVersion } from "@nova/engine";
import type { HistoryBudget } from "@nova/workflow";
import { LRUCache } from "lru-cache";
import type { BucketConnection } from "../s3/objects.ts";
import { readDefinition, storeDefinition, workflowIds } from "./definitions.ts";
import { json, optionalTexts, requireFormat, text, texts, versionNumber } from "./fields.ts";
import {
  findItem,
  indexKeys,
  readPage,
  readSome,
  record,
  type Stored,
  type TableConnection,
  tableKeys,
  writeIf,
} from "./records.ts";

const cachedVersions = 200;
/** Page size of `everyVersion`: the definitions of a page are read from S3 in parallel. */
const readAtOnce = 50;

/** Published versions. They never change, so a warm Lambda reads each once. */
export function createWorkflowStore(connection: TableConnection, bucket: BucketConnection): WorkflowStore {
  const versions = versionRecord(connection);
  const cache = new LRUCache<string, WorkflowVersion>({ max: cachedVersions });
  const known = async (item: VersionItem) =>
    cache.get(cacheKey(item.workflowId, item.version)) ?? (await materialise(bucket, item));
  const versionOf = async (item: VersionItem) => {
    const version = await known(item);
    cache.set(cacheKey(version.workflowId, version.version), version);
    return version;
  };
  return {
    async get(workflowId, version) {
      const cached = cache.get(cacheKey(workflowId, version));
      return cached ?? findItem(versions.get({ workflowId, version }), versionOf);
    },
    stored: (workflowId, version) =>
      findItem(versions.get({ workflowId, version }), (item) => materialise(bucket, item)),
    async latest(workflowId) {
      const query = versions.query.record({ workflowId });
      const [newest] = await readSome(query, { consistent: true, order: "desc", limit: 1 });
      return newest && versionOf(newest);
    },
    async create({ workflow, ...version }) {
      const definition = await storeDefinition(bucket, { ...version, workflow });
      return writeIf(versions.create({ ...version, ...definition }));
    },
    ids: (after) => workflowIds((last) => versions.query.all({}).gt(last), after),
    async *everyVersion() {
      let cursor: string | null = null;
      do {
        const page: { data: VersionItem[]; cursor: string | null } = await readPage(versions.query.all({}), {
          cursor,
          limit: readAtOnce,
        });
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
  const { definition: _, ...version } = item;
  const checked = requireFormat(`version ${item.version} of workflow "${item.workflowId}"`, version);
  return { ...checked, workflow: await readDefinition(bucket, item) };
}

const versionRecord = record(
  "version",
  {
    ...texts("workflowId", "hash", "template", "stateMachineArn", "createdAt"),
    version: versionNumber,
    /** JSON text of the normalised definition; absent if it is in S3. */
    definition: text,
    /** History events that one execution may use, if loops continue in further executions. */
    history: json<HistoryBudget>(),
    /**
     * Slug of the client whose draft this is. It remains after the client is deleted, because verification reads it.
     */
    ...optionalTexts("draftOf"),
  },
  {
    record: tableKeys("W#{workflowId}", "V#{version}"),
    all: indexKeys("by-workflow", "VERSIONS", "{workflowId}#{version}"),
  },
);

type VersionItem = Stored<typeof versionRecord>;
