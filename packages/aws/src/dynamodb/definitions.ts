import type { WorkflowVersion } from "@nova/engine";
import { type BucketConnection, readText, writeJson } from "../s3/objects.ts";
import { readPage } from "./records.ts";

/** What a version's item holds inline; the same limit as in the chain (protocol, Sizes). */
const inlineBytes = 8192;

export const definitionPrefix = "workflows/";

/** The object that holds a version's definition is gone. */
export class DefinitionMissing extends Error {
  override name = "DefinitionMissing";
}

type Named = Pick<WorkflowVersion, "workflowId" | "hash">;
/** An item that has a definition, or names one in S3. */
type DefinitionItem = Named & Pick<WorkflowVersion, "version"> & { definition?: string };

/** Large definitions go to S3 before the item that refers to them; answers what the item holds itself. */
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

/** Sorts behind every version that its ten digits can hold. */
const behindVersions = 9_999_999_999;
/** Of an index that is sorted by workflow and version. */
const onePage = { attributes: ["workflowId" as const], limit: 200 };

type Position = Pick<WorkflowVersion, "workflowId" | "version">;

/**
 * Ids behind `after`, in order, each once. Behind each page it goes on with the next workflow, so that neither many
 * workflows nor many versions of one take many queries.
 */
export async function* workflowIds(
  behind: (last: Position) => Parameters<typeof readPage<Pick<Position, "workflowId">>>[0],
  after = "",
): AsyncGenerator<string> {
  let last = after;
  for (;;) {
    const { data, cursor } = await readPage(behind({ workflowId: last, version: behindVersions }), onePage);
    for (const { workflowId } of data) {
      if (workflowId !== last) yield workflowId;
      last = workflowId;
    }
    if (cursor === null) return;
  }
}
