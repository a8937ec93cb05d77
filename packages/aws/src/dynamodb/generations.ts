import type { Generation, GenerationStore } from "@nova/engine";
import type { Ingredients } from "@nova/workflow";
import { current, json, numbers, optionalTexts, requiredText, texts } from "./fields.ts";
import { place, readAll, record, type Stored, type TableConnection, write, writeIf } from "./records.ts";

/** Code and ingredients together: an item of DynamoDB has at most 400 KB. */
const maxBytes = 300_000;

/** Code that is too large to be kept; the message says so. */
export class GenerationTooLarge extends Error {
  override name = "GenerationTooLarge";
}

/** Code that models wrote, with its history: one query answers all of a node. */
export function createGenerationStore(connection: TableConnection): GenerationStore {
  const generations = generationRecord(connection);
  return {
    async of(workflowId, node, client) {
      const items = await readAll(generations.query.record({ workflowId, node, client: client ?? "" }));
      return items.map(generationOf);
    },
    ofWorkflow: async (workflowId) => (await readAll(generations.query.record({ workflowId }))).map(generationOf),
    async create(generation) {
      refuseLarge(generation);
      return writeIf(generations.create(itemOf(generation)));
    },
    update({ workflowId, node, client, key, codeHash }, { status, provenBy, approved }) {
      const patch = generations.patch({ workflowId, node, client: client ?? "", key, codeHash });
      const changes = { ...(status && { status }), ...(provenBy !== undefined && { provenBy }) };
      return write(patch.set({ ...changes, ...(approved && approvalOf(approved)) }));
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
    ...current(`code of node "${item.node}" of workflow "${item.workflowId}"`, rest),
    client: client === "" ? null : client,
    cost: { usd, tokens_input: tokensInput, tokens_cached: tokensCached, tokens_output: tokensOutput },
    ...(approvedBy !== undefined && approvedAt !== undefined && { approved: { by: approvedBy, at: approvedAt } }),
  };
}

/** A workflow's generations lie in one partition, those of a node and a client side by side. */
const generationRecord = record(
  "generation",
  {
    ...texts("workflowId", "node", "key", "codeHash", "code", "model", "createdAt"),
    ...optionalTexts("analysis", "analysisHash", "provenBy", "approvedBy", "approvedAt"),
    ...numbers("usd", "tokensInput", "tokensCached", "tokensOutput"),
    /** Empty: for every client. */
    client: requiredText,
    ingredients: { ...json<Ingredients>(), required: true } as const,
    status: { type: ["candidate", "pinned", "replaced"], required: true },
    origin: { type: ["generated", "edited"], required: true },
    embedding: { type: "list", items: { type: "number" } },
  },
  { record: place("G#{workflowId}", "N#{node}#{client}#{key}#{codeHash}") },
);

type GenerationItem = Stored<typeof generationRecord>;
