import type { HandOver, Publication, PublicationStore } from "@nova/service";
import type { Workflow } from "@nova/workflow";
import { LRUCache } from "lru-cache";
import type { BucketConnection } from "../s3/objects.ts";
import { readDefinition, storeDefinition, workflowIds } from "./definitions.ts";
import { optionalTexts, requireFormat, text, texts, value, versionNumber } from "./fields.ts";
import {
  findItem,
  indexKeys,
  readEach,
  readSome,
  record,
  type Stored,
  type TableConnection,
  tableKeys,
  writeIf,
} from "./records.ts";

const cachedDefinitions = 200;

/** Versions that are being published to Step Functions, and the results. */
export function createPublicationStore(connection: TableConnection, bucket: BucketConnection): PublicationStore {
  const publications = publicationRecord(connection);
  const definitions = new LRUCache<string, Workflow>({ max: cachedDefinitions });
  /** Caches definitions by workflow and hash, so a warm Lambda reads each once. */
  const materialise = async (item: PublicationItem) => {
    const key = `${item.workflowId} ${item.hash}`;
    const workflow = definitions.get(key) ?? (await readDefinition(bucket, item));
    definitions.set(key, workflow);
    return publicationOf(item, workflow);
  };
  const change = async ({ workflowId, version }: Pick<Publication, "workflowId" | "version">, to: Change) => {
    const patch = publications.patch({ workflowId, version }).set(to);
    const changed = to.status === undefined ? patch : patch.remove(["open"]);
    await writeIf(changed.where(({ status }, { eq }) => eq(status, "publishing")));
  };
  return {
    async create({ workflow, ...publication }) {
      const definition = await storeDefinition(bucket, { ...publication, workflow });
      const open = publication.status === "publishing" && { open: "publications" as const };
      return writeIf(publications.create({ ...publication, ...definition, ...open }));
    },
    get: (name) => findItem(publications.get(name), materialise),
    async latest(workflowId) {
      const query = publications.query.record({ workflowId });
      const [newest] = await readSome(query, { consistent: true, order: "desc", limit: 1 });
      return newest && materialise(newest);
    },
    recordHandOver: (name, handedOver) => change(name, { handedOver }),
    settle: change,
    ids: (after) => workflowIds((last) => publications.query.all({}).gt(last), after),
    async *pending() {
      for await (const item of readEach(publications.query.pending({ open: "publications" }))) {
        const { workflowId, version, createdAt, handedOver } = item;
        yield { workflowId, version, createdAt, ...(handedOver && { handedOver }) };
      }
    },
  };
}

type Change = Partial<Pick<PublicationItem, "status" | "reason" | "handedOver">>;

function publicationOf(item: PublicationItem, workflow: Workflow): Publication {
  const { open: _, definition: __, status, reason, ...publication } = item;
  const state = status === "failed" ? { status, reason: reason ?? "" } : { status };
  const name = `publication ${item.version} of workflow "${item.workflowId}"`;
  return { ...requireFormat(name, publication), ...state, workflow };
}

/** Shares a partition with the versions of its workflow. */
const publicationRecord = record(
  "publication",
  {
    ...texts("workflowId", "hash", "template", "createdAt"),
    ...optionalTexts("reason", "draftOf"),
    version: versionNumber,
    status: { type: ["publishing", "ready", "failed"], required: true },
    /** JSON text of the normalised definition; absent if it is in S3. */
    definition: text,
    handedOver: value<HandOver>(),
    /** Key of a sparse index; set only while the status is `publishing`. */
    open: { type: ["publications"] },
  },
  {
    record: tableKeys("W#{workflowId}", "P#{version}"),
    all: indexKeys("by-workflow", "PUBLICATIONS", "P#{workflowId}#{version}"),
    pending: indexKeys("open", "{open}", "P#{workflowId}#{version}"),
  },
);

type PublicationItem = Stored<typeof publicationRecord>;
