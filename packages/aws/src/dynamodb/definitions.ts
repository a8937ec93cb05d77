import type { WorkflowVersion } from "@nova/engine";
import { type BucketConnection, readText, writeJson } from "../s3/objects.ts";
import { readPage } from "./records.ts";

/** A larger definition is stored in S3. The chain has the same limit. */
const inlineBytes = 8192;

export const definitionPrefix = "workflows/";

/** The object with a version's definition is missing in S3. */
export class DefinitionMissing extends Error {
  override name = "DefinitionMissing";
}

type Named = Pick<WorkflowVersion, "workflowId" | "hash">;
/** An item that has a definition, or names one in S3. */
type DefinitionItem = Named & Pick<WorkflowVersion, "version"> & { definition?: string };

/**
 * Writes a large definition to S3, before the item that refers to it. Returns the attribute that the item holds itself.
 */
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
 * Ids after `after`, in order, each once. `queryAfter` queries an index that is sorted by workflow and version. After
 * each page it skips the remaining versions of the last workflow, so a workflow with many versions costs one query.
 */
export async function* workflowIds(
  queryAfter: (last: VersionKey) => Parameters<typeof readPage<Pick<VersionKey, "workflowId">>>[0],
  after = "",
): AsyncGenerator<string> {
  let last = after;
  for (;;) {
    const { data, cursor } = await readPage(queryAfter({ workflowId: last, version: maxVersion }), onePage);
    for (const { workflowId } of data) {
      if (workflowId !== last) yield workflowId;
      last = workflowId;
    }
    if (cursor === null) return;
  }
}
