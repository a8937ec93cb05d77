import { createHash } from "node:crypto";
import type { WorkflowVersion } from "@nova/engine";
import type { BucketConnection } from "../../s3/connection.ts";
import { readObject } from "../../s3/read-object.ts";
import { writeOnce } from "../../s3/write-once.ts";

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
  const body = Buffer.from(definition);
  if (body.length <= inlineBytes) return { definition };
  await writeOnce(bucket, {
    key: definitionKey(version),
    bytes: body.length,
    sha256: createHash("sha256").update(body).digest("hex"),
    contentType: "application/json",
    body,
  });
  return {};
}

export async function readDefinition(
  bucket: BucketConnection,
  item: DefinitionItem,
): Promise<WorkflowVersion["workflow"]> {
  return JSON.parse(item.definition ?? (await readText(bucket, item)));
}

async function readText(bucket: BucketConnection, item: DefinitionItem): Promise<string> {
  const object = await readObject(bucket, definitionKey(item));
  if (!object) {
    const what = `the definition of version ${item.version} of workflow "${item.workflowId}"`;
    throw new DefinitionMissing(`${what} is not in the bucket any more - publish the workflow again`);
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of object.chunks) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

export function definitionKey({ workflowId, hash }: Named): string {
  return `${definitionPrefix}${workflowId}/${hash}.json`;
}
