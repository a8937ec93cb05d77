import type { Generation, GenerationStore } from "@nova/engine";
import type { Ingredients } from "@nova/workflow";
import * as db from "./records.ts";

/**
 * Maximum size, in bytes, of a model's code together with everything from which the model wrote it. DynamoDB allows 400
 * KB per item.
 */
const maxBytes = 300_000;

/** Thrown if the code is too large to be stored. */
export class GenerationTooLarge extends Error {
  override name = "GenerationTooLarge";
}

/**
 * Creates the store of the code that models wrote for nodes. It keeps earlier versions of the code, too: each version
 * is a generation. One query reads all generations of a node.
 */
export function createGenerationStore(connection: db.TableConnection): GenerationStore {
  const generations = generationRecord(connection);
  return {
    async of(workflowId, node, client) {
      const items = await db.readAll(generations.query.record({ workflowId, node, client: client ?? "" }));
      return items.map(generationOf);
    },
    ofWorkflow: async (workflowId) => (await db.readAll(generations.query.record({ workflowId }))).map(generationOf),
    async create(generation) {
      refuseLarge(generation);
      return db.writeIf(generations.create(itemOf(generation)));
    },
    update({ workflowId, node, client, key, codeHash }, { status, provenBy, approved }) {
      const patch = generations.patch({ workflowId, node, client: client ?? "", key, codeHash });
      const changes = { ...(status && { status }), ...(provenBy !== undefined && { provenBy }) };
      return db.writeItem(patch.set({ ...changes, ...(approved && approvalOf(approved)) }));
    },
  };
}

function refuseLarge({ node, code, analysis = "", ingredients }: Generation): void {
  const bytes = Buffer.byteLength(code + analysis) + Buffer.byteLength(JSON.stringify(ingredients));
  if (bytes <= maxBytes) return;
  const limit = `at most ${maxBytes} are kept`;
  throw new GenerationTooLarge(`the code of node "${node}" has ${bytes} bytes, ${limit} - put data into the context`);
}

function itemOf({ client, cost, approved, ...generation }: Generation): GenerationItem {
  return {
    ...generation,
    client: client ?? "",
    usd: cost.usd,
    tokensInput: cost.tokens_input,
    tokensCached: cost.tokens_cached,
    tokensOutput: cost.tokens_output,
    ...(approved && approvalOf(approved)),
  };
}

function approvalOf({ by, at }: NonNullable<Generation["approved"]>) {
  return { approvedBy: by, approvedAt: at };
}

function generationOf(item: GenerationItem): Generation {
  const { client, usd, tokensInput, tokensCached, tokensOutput, approvedBy, approvedAt, ...rest } = item;
  return {
    ...db.requireFormat(`code of node "${item.node}" of workflow "${item.workflowId}"`, rest),
    client: client === "" ? null : client,
    cost: { usd, tokens_input: tokensInput, tokens_cached: tokensCached, tokens_output: tokensOutput },
    ...(approvedBy !== undefined && approvedAt !== undefined && { approved: { by: approvedBy, at: approvedAt } }),
  };
}

/** All generations of a workflow are in one partition, sorted by node and client. */
const generationRecord = db.record(
  "generation",
  {
    ...db.texts("workflowId", "node", "key", "codeHash", "code", "model", "createdAt"),
    ...db.optionalTexts("analysis", "analysisHash", "provenBy", "approvedBy", "approvedAt"),
    ...db.numbers("usd", "tokensInput", "tokensCached", "tokensOutput"),
    /** Empty for code that serves every client. */
    client: db.requiredText,
    ingredients: { ...db.json<Ingredients>(), required: true } as const,
    status: { type: ["candidate", "pinned", "replaced"], required: true },
    origin: { type: ["generated", "edited"], required: true },
    embedding: { type: "list", items: { type: "number" } },
  },
  { record: db.tableKeys("G#{workflowId}", "N#{node}#{client}#{key}#{codeHash}") },
);

type GenerationItem = db.Stored<typeof generationRecord>;
