import type { Generation, GenerationStore } from "@nova/engine";
import { reaching, reachingIf } from "../../clients/outage.ts";
import type { TableConnection } from "../connection.ts";
import { consistently, plainly, store } from "../options.ts";
import { whenAsked } from "../when-asked.ts";
import { generationEntity } from "./generation-entity.ts";
import { approvalOf, generationOf, identityOf, itemOf } from "./generation-item.ts";

/** Code and ingredients together, in bytes: an item of DynamoDB has at most 400 KB. */
const mostBytes = 300_000;

/** Code that is too large to be kept; the message says so. */
export class GenerationTooLarge extends Error {
  override name = "GenerationTooLarge";
}

/** Code that models wrote, with its history: one query answers all of a node. */
export function createGenerationStore(connection: TableConnection): GenerationStore {
  const entity = whenAsked(() => generationEntity(connection));
  return {
    async of(workflowId, node, client) {
      const query = entity.query.record({ workflowId, node, client: client ?? "" });
      const { data } = await reaching(store, () => query.go({ ...consistently, pages: "all" }));
      return data.map(generationOf).sort(newestFirst);
    },
    async ofWorkflow(workflowId) {
      const query = entity.query.record({ workflowId });
      const { data } = await reaching(store, () => query.go({ ...consistently, pages: "all" }));
      return data.map(generationOf);
    },
    async create(generation) {
      refuseLarge(generation);
      return reachingIf(store, () => entity.create(itemOf(generation)).go(plainly));
    },
    async update(generation, { status, provenBy, approved }) {
      const patch = entity.patch(identityOf(generation)).set({
        ...(status && { status }),
        ...(provenBy !== undefined && { provenBy }),
        ...(approved && approvalOf(approved)),
      });
      await reaching(store, () => patch.go(plainly));
    },
  };
}

function refuseLarge({ node, code, analysis = "", ingredients }: Generation): void {
  const bytes = Buffer.byteLength(code + analysis) + Buffer.byteLength(JSON.stringify(ingredients));
  if (bytes <= mostBytes) return;
  const limit = `at most ${mostBytes} are kept`;
  throw new GenerationTooLarge(`the code of node "${node}" has ${bytes} bytes, ${limit} - put data into the context`);
}

function newestFirst(a: Generation, b: Generation): number {
  return a.createdAt < b.createdAt ? 1 : a.createdAt > b.createdAt ? -1 : 0;
}
