import type { WorkflowStore, WorkflowVersion } from "@nova/engine";
import type * as service from "@nova/service";
import type { HistoryBudget, Workflow } from "@nova/workflow";
import { LRUCache } from "lru-cache";
import { type BucketConnection, readText, writeJson } from "../s3/objects.ts";
import * as db from "./records.ts";

const cachedVersions = 200;
/** Page size of `everyVersion`: the definitions of a page are read from S3 in parallel. */
const readAtOnce = 50;

/** Creates the store of published versions. Versions never change, so a warm Lambda reads each version once. */
export function createWorkflowStore(connection: db.TableConnection, bucket: BucketConnection): WorkflowStore {
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
      return cached ?? db.findItem(versions.get({ workflowId, version }), versionOf);
    },
    stored: (workflowId, version) =>
      db.findItem(versions.get({ workflowId, version }), (item) => materialise(bucket, item)),
    async latest(workflowId) {
      const query = versions.query.record({ workflowId });
      const [newest] = await db.readSome(query, { consistent: true, order: "desc", limit: 1 });
      return newest && versionOf(newest);
    },
    async create({ workflow, ...version }) {
      const definition = await storeDefinition(bucket, { ...version, workflow });
      return db.writeIf(versions.create({ ...version, ...definition }));
    },
    ids: (after) => workflowIds((last) => versions.query.all({}).gt(last), after),
    async *everyVersion() {
      let cursor: string | null = null;
      do {
        const page: { data: VersionItem[]; cursor: string | null } = await db.readPage(versions.query.all({}), {
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
  const checked = db.requireFormat(`version ${item.version} of workflow "${item.workflowId}"`, version);
  return { ...checked, workflow: await readDefinition(bucket, item) };
}

const versionRecord = db.record(
  "version",
  {
    ...db.texts("workflowId", "hash", "template", "stateMachineArn", "createdAt"),
    version: db.versionNumber,
    /** JSON text of the normalised definition; absent if it is in S3. */
    definition: db.text,
    /** History events that one execution may use, if loops continue in further executions. */
    history: db.json<HistoryBudget>(),
    /** Slug of the client whose draft this is. It stays after the client was deleted, because verification reads it. */
    ...db.optionalTexts("draftOf"),
  },
  {
    record: db.tableKeys("W#{workflowId}", "V#{version}"),
    all: db.indexKeys("by-workflow", "VERSIONS", "{workflowId}#{version}"),
  },
);

type VersionItem = db.Stored<typeof versionRecord>;

/** Limit in bytes: a larger definition is stored in S3. The chain has the same limit. */
const inlineBytes = 8192;

export const definitionPrefix = "workflows/";

/** Thrown if the object with a version's definition is missing in S3. */
export class DefinitionMissing extends Error {
  override name = "DefinitionMissing";
}

type Named = Pick<WorkflowVersion, "workflowId" | "hash">;
/** An item that contains a definition, or whose definition is in S3. */
type DefinitionItem = Named & Pick<WorkflowVersion, "version"> & { definition?: string };

/** Writes a large definition to S3, before the item that refers to it. Returns the attribute of the item. */
export async function storeDefinition(
  bucket: BucketConnection,
  version: Named & Pick<WorkflowVersion, "workflow">,
): Promise<{ definition?: string }> {
  const definition = JSON.stringify(version.workflow);
  if (Buffer.byteLength(definition) <= inlineBytes) return { definition };
  await writeJson(bucket, definitionKey(version), definition);
  return {};
}

export async function readDefinition(
  bucket: BucketConnection,
  item: DefinitionItem,
): Promise<WorkflowVersion["workflow"]> {
  const definition = item.definition ?? (await readText(bucket, definitionKey(item)));
  if (definition !== undefined) return JSON.parse(definition);
  const what = `the definition of version ${item.version} of workflow "${item.workflowId}"`;
  throw new DefinitionMissing(`${what} is not in the bucket any more - publish the workflow again`);
}

export function definitionKey({ workflowId, hash }: Named): string {
  return `${definitionPrefix}${workflowId}/${hash}.json`;
}

/** The highest version number that the ten digits of a key can hold. */
const maxVersion = 9_999_999_999;
const onePage = { attributes: ["workflowId" as const], limit: 200 };

type VersionKey = Pick<WorkflowVersion, "workflowId" | "version">;

/**
 * Yields the workflow ids that sort after `after`, in order, each once. `queryAfter` queries an index that is sorted by
 * workflow and version. After each page, this function skips the remaining versions of the last workflow, so a workflow
 * with many versions costs one query.
 */
export async function* workflowIds(
  queryAfter: (last: VersionKey) => Parameters<typeof db.readPage<Pick<VersionKey, "workflowId">>>[0],
  after = "",
): AsyncGenerator<string> {
  let last = after;
  for (;;) {
    const { data, cursor } = await db.readPage(queryAfter({ workflowId: last, version: maxVersion }), onePage);
    for (const { workflowId } of data) {
      if (workflowId !== last) yield workflowId;
      last = workflowId;
    }
    if (cursor === null) return;
  }
}

const cachedDefinitions = 200;

/** Creates the store of publications: versions that are being published to Step Functions, and the results. */
export function createPublicationStore(
  connection: db.TableConnection,
  bucket: BucketConnection,
): service.PublicationStore {
  const publications = publicationRecord(connection);
  const definitions = new LRUCache<string, Workflow>({ max: cachedDefinitions });
  /**
   * Builds a publication with its definition. Caches definitions by workflow and hash, so a warm Lambda reads each
   * definition once.
   */
  const materialise = async (item: PublicationItem) => {
    const key = `${item.workflowId} ${item.hash}`;
    const workflow = definitions.get(key) ?? (await readDefinition(bucket, item));
    definitions.set(key, workflow);
    return publicationOf(item, workflow);
  };
  const change = async ({ workflowId, version }: Pick<service.Publication, "workflowId" | "version">, to: Change) => {
    const patch = publications.patch({ workflowId, version }).set(to);
    const changed = to.status === undefined ? patch : patch.remove(["open"]);
    await db.writeIf(changed.where(({ status }, { eq }) => eq(status, "publishing")));
  };
  return {
    async create({ workflow, ...publication }) {
      const definition = await storeDefinition(bucket, { ...publication, workflow });
      const open = publication.status === "publishing" && { open: "publications" as const };
      return db.writeIf(publications.create({ ...publication, ...definition, ...open }));
    },
    get: (name) => db.findItem(publications.get(name), materialise),
    async latest(workflowId) {
      const query = publications.query.record({ workflowId });
      const [newest] = await db.readSome(query, { consistent: true, order: "desc", limit: 1 });
      return newest && materialise(newest);
    },
    recordHandOver: (name, handedOver) => change(name, { handedOver }),
    settle: change,
    ids: (after) => workflowIds((last) => publications.query.all({}).gt(last), after),
    async *pending() {
      for await (const item of db.readEach(publications.query.pending({ open: "publications" }))) {
        const { workflowId, version, createdAt, handedOver } = item;
        yield { workflowId, version, createdAt, ...(handedOver && { handedOver }) };
      }
    },
  };
}

type Change = Partial<Pick<PublicationItem, "status" | "reason" | "handedOver">>;

function publicationOf(item: PublicationItem, workflow: Workflow): service.Publication {
  const { open: _, definition: __, status, reason, ...publication } = item;
  const state = status === "failed" ? { status, reason: reason ?? "" } : { status };
  const name = `publication ${item.version} of workflow "${item.workflowId}"`;
  return { ...db.requireFormat(name, publication), ...state, workflow };
}

/** A publication is in the same partition as the versions of its workflow. */
const publicationRecord = db.record(
  "publication",
  {
    ...db.texts("workflowId", "hash", "template", "createdAt"),
    ...db.optionalTexts("reason", "draftOf"),
    version: db.versionNumber,
    status: { type: ["publishing", "ready", "failed"], required: true },
    /** JSON text of the normalised definition; absent if it is in S3. */
    definition: db.text,
    handedOver: db.value<service.HandOver>(),
    /** Key of a sparse index; set only while the status is `publishing`. */
    open: { type: ["publications"] },
  },
  {
    record: db.tableKeys("W#{workflowId}", "P#{version}"),
    all: db.indexKeys("by-workflow", "PUBLICATIONS", "P#{workflowId}#{version}"),
    pending: db.indexKeys("open", "{open}", "P#{workflowId}#{version}"),
  },
);

type PublicationItem = db.Stored<typeof publicationRecord>;

/**
 * Creates the store of the mutable state of workflows: the active version, the deleted versions, and changes that are
 * not finished yet.
 */
export function createWorkflowStates(connection: db.TableConnection): service.WorkflowStates {
  const states = stateRecord(connection);
  return {
    get: (workflowId) =>
      db.findItem(states.get({ workflowId }), ({ open: _, ordered: __, ...state }) =>
        db.requireFormat(`the state of workflow "${workflowId}"`, state),
      ),
    set: (workflowId, changes) => db.writeItem(states.update({ workflowId }).set({ format: db.FORMAT, ...changes })),
    move(workflowId, from, { touched = from.touched ?? [], ...to }) {
      const update = states.update({ workflowId }).set({ format: db.FORMAT, ...to });
      const marked =
        touched.length > 0
          ? update.set({ touched, open: "unsettled", ordered: workflowId })
          : update.remove(["touched", "handedOver", "open", "ordered"]);
      const { active, deleted } = from;
      const before = from.touched?.length ? from.touched : undefined;
      return db.writeIf(marked.where(db.isUnchanged({ active, deleted, touched: before })));
    },
    pause(workflowId, from, to) {
      const update = states.update({ workflowId }).set({ format: db.FORMAT });
      const changed = isEmpty(to) ? update.remove(["paused"]) : update.set({ paused: to });
      return db.writeIf(changed.where(db.isUnchanged({ paused: isEmpty(from) ? undefined : from })));
    },
    async endDeletion(workflowId, deed) {
      const done = states.update({ workflowId }).remove(["leaving"]);
      await db.writeIf(done.where(({ leaving }, { eq }) => eq(leaving, deed)));
    },
    async *unsettled() {
      for await (const { workflowId, touched = [], handedOver } of db.readEach(
        states.query.unsettled({ open: "unsettled" }),
      ))
        yield { workflowId, touched, ...(handedOver && { handedOver }) };
    },
    async recordHandOver(workflowId, handedOver) {
      const noted = states.update({ workflowId }).set({ handedOver });
      await db.writeIf(noted.where(({ touched }, { exists }) => exists(touched)));
    },
  };
}

function isEmpty(pauses: service.Pauses): boolean {
  return Object.keys(pauses).length === 0;
}

const stateRecord = db.record(
  "workflow-state",
  {
    ...db.texts("workflowId"),
    ...db.optionalTexts("ordered"),
    ...db.optionalNumbers("active", "deleted"),
    before: db.value<number[]>(),
    touched: db.value<number[]>(),
    handedOver: db.value<service.HandOver>(),
    leaving: db.value<service.AuditRecord>(),
    /** Partition key of a sparse index; set as long as `touched` has versions. The sort key is `ordered`. */
    open: { type: ["unsettled"] },
    paused: db.value<service.Pauses>(),
    quotas: db.value<service.WorkflowQuotas>(),
  },
  { record: db.tableKeys("W#{workflowId}", "STATE"), unsettled: db.indexKeys("open", "{open}", "{ordered}") },
);
