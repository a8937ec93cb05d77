// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how ElectroDB writes key templates
import type { HandedOver, Publication, PublicationStore } from "@nova/service";
import type { Workflow } from "@nova/workflow";
import { CustomAttributeType, Entity, type EntityItem } from "electrodb";
import { LRUCache } from "lru-cache";
import { reaching, reachingIf } from "../clients/outage.ts";
import type { BucketConnection } from "../s3/connection.ts";
import type { TableConnection } from "./connection.ts";
import { requiredNumber, requiredText, text } from "./fields.ts";
import { checkFormat, FORMAT } from "./format.ts";
import { consistently, plainly, store } from "./options.ts";
import { readDefinition, storeDefinition } from "./versions/definitions.ts";
import { whenAsked } from "./when-asked.ts";
import { workflowIds } from "./workflow-ids.ts";

const cachedDefinitions = 200;

/** Versions on their way to Step Functions, and what became of them. */
export function createPublicationStore(connection: TableConnection, bucket: BucketConnection): PublicationStore {
  const entity = whenAsked(() => publicationEntity(connection));
  const definitions = new LRUCache<string, Workflow>({ max: cachedDefinitions });
  /** A definition is named by its hash, and read once by a warm Lambda. */
  const materialise = async (item: PublicationItem) => {
    const key = `${item.workflowId} ${item.hash}`;
    const workflow = definitions.get(key) ?? (await readDefinition(bucket, item));
    definitions.set(key, workflow);
    return publicationOf(item, workflow);
  };
  return {
    async create({ workflow, ...publication }) {
      const definition = await storeDefinition(bucket, { ...publication, workflow });
      const open = publication.status === "publishing" && { open: "publications" as const };
      return reachingIf(store, () => entity.create({ ...publication, ...definition, ...open }).go(plainly));
    },
    async get(name) {
      const { data } = await reaching(store, () => entity.get(name).go(consistently));
      return data ? materialise(data) : undefined;
    },
    async latest(workflowId) {
      const newest = { ...consistently, order: "desc", limit: 1 } as const;
      const { data } = await reaching(store, () => entity.query.record({ workflowId }).go(newest));
      return data[0] && materialise(data[0]);
    },
    async noteHandedOver({ workflowId, version }, handedOver) {
      const patch = entity.patch({ workflowId, version }).set({ handedOver });
      await reachingIf(store, () => patch.where(({ status }, { eq }) => eq(status, "publishing")).go(plainly));
    },
    async settle({ workflowId, version }, state) {
      const patch = entity.patch({ workflowId, version }).set(state).remove(["open"]);
      await reachingIf(store, () => patch.where(({ status }, { eq }) => eq(status, "publishing")).go(plainly));
    },
    ids: (after) => workflowIds((last) => entity.query.all({}).gt(last), after),
    async *pending() {
      const query = entity.query.pending({ open: "publications" });
      for await (const item of pagesOf((cursor) => query.go({ ...plainly, cursor }))) {
        const { workflowId, version, createdAt, handedOver } = item;
        yield { workflowId, version, createdAt, ...(handedOver && { handedOver }) };
      }
    },
  };
}

type ItemPage = Awaited<ReturnType<ReturnType<PublicationEntity["query"]["pending"]>["go"]>>;

async function* pagesOf(read: (cursor: string | null) => Promise<ItemPage>): AsyncGenerator<PublicationItem> {
  let cursor: string | null = null;
  do {
    const page: ItemPage = await reaching(store, () => read(cursor));
    yield* page.data;
    cursor = page.cursor;
  } while (cursor);
}

function publicationOf(item: PublicationItem, workflow: Workflow): Publication {
  const { open: _, definition: __, format, status, reason, ...publication } = item;
  checkFormat(`publication ${item.version} of workflow "${item.workflowId}"`, format);
  const state = status === "failed" ? { status, reason: reason ?? "" } : { status };
  return { ...publication, ...state, format: FORMAT, workflow };
}

const byWorkflow = {
  composite: ["workflowId", "version"],
  template: "P#${workflowId}#${version}",
  casing: "none",
} as const;

/** Beside the versions: one that is `ready` has its definition there. */
function publicationEntity({ client, table }: TableConnection) {
  return new Entity(
    {
      model: { service: "nova", entity: "publication", version: "1" },
      attributes: {
        workflowId: requiredText,
        version: { type: "number", required: true, padding: { length: 10, char: "0" } },
        format: requiredNumber,
        status: { type: ["publishing", "ready", "failed"] as const, required: true },
        reason: text,
        hash: requiredText,
        /** JSON text of the normalised definition; absent where it lies in S3. */
        definition: text,
        template: requiredText,
        createdAt: requiredText,
        handedOver: { type: CustomAttributeType<HandedOver>("any") },
        /** There while it is `publishing`: the key of a sparse index. */
        open: { type: ["publications"] as const },
      },
      indexes: {
        record: {
          pk: { field: "pk", composite: ["workflowId"], template: "W#${workflowId}", casing: "none" },
          sk: { field: "sk", composite: ["version"], template: "P#${version}", casing: "none" },
        },
        all: {
          index: "by-workflow",
          pk: { field: "workflowKey", composite: [], template: "PUBLICATIONS", casing: "none" },
          sk: { field: "ordered", ...byWorkflow },
        },
        pending: {
          index: "open",
          pk: { field: "open", composite: ["open"], casing: "none" },
          sk: { field: "ordered", ...byWorkflow },
        },
      },
    },
    { client, table },
  );
}

type PublicationEntity = ReturnType<typeof publicationEntity>;
type PublicationItem = EntityItem<PublicationEntity>;
