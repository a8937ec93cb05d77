import type { NovaClient, Schemas } from "@nova/client";
import type { Generation } from "@nova/engine";
import type { Ingredients, Workflow } from "@nova/workflow";
import { InvalidInput } from "../errors.ts";
import { capped } from "../server/capped.ts";
import { unlessMissing } from "../server/unless-missing.ts";
import type { Records } from "./records.ts";
import { executionFrom, readServersTrace, readWhole } from "./shown.ts";

/** As large as an upload may be. */
const maxBlobBytes = 1024 * 1024 * 1024;

/** What a server has recorded. */
export function serverRecords(server: NovaClient): Records {
  return {
    execution: async (id) => (await readWhole(server, id)).execution,
    async *executions({ workflow }) {
      for await (const item of server.executions.list({ workflow, limit: 25 })) yield executionFrom(item);
    },
    trace: (id, options) => readServersTrace(server, id, options),
    generations: (workflow) => generationsOf(server, workflow),
    async workflow(id, version) {
      return (await server.workflows.get(id, { version })).definition as unknown as Workflow;
    },
    blob: (execution, sha256) => fetchBlob(server, execution, sha256),
  };
}

async function generationsOf(server: NovaClient, workflow: string): Promise<Generation[]> {
  return (await Array.fromAsync(server.workflows.generations(workflow))).map((one) => generationFrom(one, workflow));
}

function generationFrom(item: Schemas["Generation"], workflowId: string): Generation {
  const { node, client_slug, status, key, code, origin, model, cost } = item;
  return {
    ...{ format: 1, workflowId, node, client: client_slug, status, key, code, codeHash: item.code_hash },
    ingredients: item.ingredients as Ingredients,
    ...(item.analysis !== null && { analysis: item.analysis }),
    ...(item.analysis_hash !== null && { analysisHash: item.analysis_hash }),
    ...{ origin, model, cost, createdAt: item.created_at },
    ...(item.proven_by !== null && { provenBy: item.proven_by }),
    ...(item.approved && { approved: item.approved }),
  };
}

async function fetchBlob(server: NovaClient, id: string, sha256: string): Promise<Uint8Array | null> {
  const asked = server.api.GET("/executions/{id}/blobs/{sha256}", { params: { path: { id, sha256 } } });
  const link = await unlessMissing(server.ask(asked));
  if (!link) return null;
  if (!/^https?:$/.test(URL.parse(link.url)?.protocol ?? "")) {
    throw new InvalidInput(`the server answered no address for the bytes ${sha256} of ${id} - ask who runs it`);
  }
  const answer = await fetch(link.url);
  if (answer.ok) return new Uint8Array(await capped(answer, maxBlobBytes).arrayBuffer());
  if (answer.status === 404) return null;
  throw new InvalidInput(`the bytes ${sha256} of ${id} were answered with status ${answer.status} - try again`);
}
