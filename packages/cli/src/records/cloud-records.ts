import { executionOf, type Ports, readTrace } from "@nova/engine";
import { InvalidInput } from "../errors.ts";
import type { Records } from "./records.ts";

/** What this machine's cloud has recorded. */
export function cloudRecords(ports: Ports): Records {
  return {
    execution: (id) => executionOf(ports, id),
    executions: ({ workflow }) => allOf(ports, workflow),
    trace: (id, options) => readTrace(ports, id, options),
    generations: (workflow) => ports.generations.ofWorkflow(workflow),
    async workflow(id, version) {
      const found = await ports.workflows.get(id, version);
      if (found) return found.workflow;
      throw new InvalidInput(`workflow "${id}" has no version ${version} any more - its runs can only be read`);
    },
    async blob(execution, sha256) {
      const { client, root } = await executionOf(ports, execution);
      return ports.blobs.get({ client, root }, sha256).catch(nullIfErased);
    },
  };
}

async function* allOf({ executions }: Pick<Ports, "executions">, workflow: string) {
  for (let cursor: string | undefined; ; ) {
    const page = await executions.list({ workflow, limit: 25, ...(cursor !== undefined && { cursor }) });
    yield* page.items;
    cursor = page.cursor;
    if (cursor === undefined) return;
  }
}

function nullIfErased(error: unknown): null {
  if (error instanceof Error && error.name === "BlobMissing") return null;
  throw error;
}
