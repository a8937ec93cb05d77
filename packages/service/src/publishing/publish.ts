import type { Finding, WorkflowSource } from "@nova/workflow";
import { demandAllClients } from "../access/authenticate.ts";
import { recordDeed } from "../audit/record.ts";
import { Refused } from "../errors.ts";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { PublicationState } from "../ports/publications.ts";
import { finishDeletion } from "./finish-deletion.ts";
import { handOver, untilPublished } from "./hand-over.ts";
import { putForward } from "./put-forward.ts";
import { type Stored, storePublication } from "./store-publication.ts";
import { demandValid } from "./validate.ts";

export type Published = {
  id: string;
  version: number;
  /** False where the definition was the latest version already. */
  created: boolean;
  /** Whether new runs use another version than before, or will where it is being published. */
  isNew: boolean;
  /** Warnings. */
  findings: Finding[];
} & PublicationState;

export interface Publishing {
  /** The id that the definition has to have; absent: any. */
  id?: string;
  /** A definition that is the latest version already does not become what new runs use: somebody may have rolled back. */
  staysBack?: boolean;
}

/**
 * Validates, stores a version, and has it published: once it is `ready` it is what new runs use. A definition that is
 * the latest version already is that version; the audit hears of it only where new runs used another one. Throws
 * `Refused` with the findings; `Forbidden`.
 */
export async function publish(
  ports: ServicePorts,
  by: Principal,
  source: WorkflowSource,
  { id, staysBack }: Publishing = {},
): Promise<Published> {
  demandAllClients(by);
  const { workflow, findings } = await demandValid(ports, by, source);
  if (id !== undefined && workflow.id !== id) {
    const found = `the definition's id (of its name, where it has none) is "${workflow.id}", the address says "${id}"`;
    throw new Refused(`${found} - write "id": "${id}" into it, or send it to the other address`);
  }
  await finishDeletion(ports, workflow.id);
  const template = await ports.templates.of(workflow.requirements);
  const stored = await storePublication(ports, workflow, template);
  const { version } = "ready" in stored ? stored.ready : stored.publication;
  const { isNew, ...state } = await publishStored(ports, stored, staysBack);
  if (isNew) {
    const deed = { action: "workflow.published", client: null, subject: workflow.id } as const;
    await recordDeed(ports, by, { ...deed, detail: { version } });
  }
  return { id: workflow.id, version, created: stored.created, isNew, findings, ...state };
}

async function publishStored(
  ports: ServicePorts,
  stored: Stored,
  staysBack?: boolean,
): Promise<PublicationState & { isNew: boolean }> {
  if ("ready" in stored) return { status: "ready", isNew: await putForward(ports, stored.ready, staysBack) };
  const isNew = stored.created;
  const { workflowId, version } = stored.publication;
  await handOver(ports, { workflowId, version });
  const state = (await untilPublished(ports, { workflowId, version })) ?? stored.publication;
  return state.status === "failed"
    ? { status: "failed", reason: state.reason, isNew }
    : { status: state.status, isNew };
}
