import type { WorkflowVersion } from "@nova/engine";
import { type Workflow, workflowHash } from "@nova/workflow";
import type { ServicePorts } from "../ports/index.ts";
import type { Publication } from "../ports/publications.ts";

type StorePorts = Pick<ServicePorts, "workflows" | "publications" | "clock">;

/** What a definition became: a version that waits for Step Functions, or one that is ready already. */
export type Stored = { created: boolean; publication: Publication } | { created: false; ready: WorkflowVersion };

/**
 * Gives a definition the next version number. One that is the latest version already, or waits to be it, is that one;
 * one that has failed gets another try under a new number.
 */
export async function storePublication(ports: StorePorts, workflow: Workflow, template: string): Promise<Stored> {
  const hash = workflowHash(workflow);
  for (;;) {
    // In this order: what is no publication any more is a version by then.
    const queued = await ports.publications.latest(workflow.id);
    const ready = await ports.workflows.latest(workflow.id);
    const version = Math.max(queued?.version ?? 0, ready?.version ?? 0) + 1;
    const isSame = (one?: Pick<Publication, "hash" | "template" | "version">) =>
      one?.version === version - 1 && one.hash === hash && one.template === template;
    if (ready && isSame(ready)) return { created: false, ready };
    if (queued?.status === "publishing" && isSame(queued)) return { created: false, publication: queued };
    const createdAt = new Date(ports.clock.now()).toISOString();
    const named = { format: 1, workflowId: workflow.id, version, hash, workflow, template, createdAt } as const;
    const publication: Publication = { ...named, status: "publishing" };
    if (await ports.publications.create(publication)) return { created: true, publication };
  }
}
