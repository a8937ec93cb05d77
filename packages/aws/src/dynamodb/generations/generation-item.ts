import type { Generation } from "@nova/engine";
import { checkFormat, FORMAT } from "../format.ts";
import type { GenerationItem } from "./generation-entity.ts";

type Identity = Pick<Generation, "workflowId" | "node" | "client" | "key" | "codeHash">;

export function identityOf({ workflowId, node, client, key, codeHash }: Identity) {
  return { workflowId, node, client: client ?? "", key, codeHash };
}

export function itemOf({ client, ingredients, cost, approved, ...generation }: Generation): GenerationItem {
  return {
    ...generation,
    client: client ?? "",
    ingredients: JSON.stringify(ingredients),
    usd: cost.usd,
    tokensInput: cost.tokens_input,
    tokensCached: cost.tokens_cached,
    tokensOutput: cost.tokens_output,
    ...(approved && approvalOf(approved)),
  };
}

export function approvalOf({ by, at }: NonNullable<Generation["approved"]>) {
  return { approvedBy: by, approvedAt: at };
}

export function generationOf(item: GenerationItem): Generation {
  const { format, client, ingredients, usd, tokensInput, tokensCached, tokensOutput, approvedBy, approvedAt, ...rest } =
    item;
  checkFormat(`code of node "${item.node}" of workflow "${item.workflowId}"`, format);
  return {
    ...rest,
    format: FORMAT,
    client: client === "" ? null : client,
    ingredients: JSON.parse(ingredients),
    cost: { usd, tokens_input: tokensInput, tokens_cached: tokensCached, tokens_output: tokensOutput },
    ...(approvedBy !== undefined && approvedAt !== undefined && { approved: { by: approvedBy, at: approvedAt } }),
  };
}
