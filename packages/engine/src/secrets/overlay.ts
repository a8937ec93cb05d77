import { isDeepStrictEqual } from "node:util";
import type { TaskNode } from "@nova/workflow";
import type { Context } from "../context/context.ts";
import { NovaError } from "../errors.ts";
import type { CredentialOverlay } from "../ports/credentials.ts";
import type { Ports } from "../ports/index.ts";
import type { CodeResult } from "../ports/sandboxes.ts";
import type { WorkflowVersion } from "../ports/workflows.ts";
import { TokenEndpointLost } from "./credentials/ask-token.ts";

export const emptyOverlay: CredentialOverlay = { members: [], secrets: [], hosts: [] };

/** Whose run it is, and what of credentials its definition declares. */
export interface Whose {
  client: string;
  version: WorkflowVersion;
  node: Pick<TaskNode, "credentials">;
}

/** What lies over the context of a node. Throws what `Credentials.forNode` throws. */
export async function credentialOverlay(
  { credentials }: Pick<Ports, "credentials">,
  whose: Whose,
): Promise<CredentialOverlay> {
  const names = declared(whose);
  if (names?.length === 0) return emptyOverlay;
  return credentials.forNode(whose.client, whose.version.workflowId, names);
}

/** The same where code may run already: a token endpoint that is away must not end it. */
export async function overlayAgain(ports: Pick<Ports, "credentials">, whose: Whose): Promise<CredentialOverlay> {
  try {
    return await credentialOverlay(ports, whose);
  } catch (error) {
    if (!(error instanceof NovaError && error.cause instanceof TokenEndpointLost)) throw error;
    throw new NovaError("SandboxUnavailable", error.message, { cause: error.cause });
  }
}

/** The same of code that is to be stopped or has ended, whatever became of the credentials. */
export async function overlayBefore(ports: Pick<Ports, "credentials">, whose: Whose): Promise<CredentialOverlay> {
  const names = declared(whose);
  if (names?.length === 0) return emptyOverlay;
  try {
    return await ports.credentials.forNode(whose.client, whose.version.workflowId, names, { asStored: true });
  } catch (error) {
    if (!(error instanceof NovaError)) throw error;
    return { ...emptyOverlay, secrets: await ports.credentials.secretsOf(whose.client, whose.version.workflowId) };
  }
}

function declared({ version: { workflow }, node }: Whose): readonly string[] | undefined {
  return node.credentials ?? workflow.credentials;
}

/** What the code finds: where both have a key, the credential's value. */
export function withOverlay(input: Context, { members }: CredentialOverlay): Context {
  return members.length === 0 ? input : input.apply({ set: members, delete: [] }, "");
}

/** A result without its overlay: unchanged and deleted keys of credentials are not the code's doing. */
export function withoutOverlay(result: CodeResult, { members }: CredentialOverlay): CodeResult {
  if (result.status === "error" || members.length === 0) return result;
  const overlay = new Map(members.map(({ key, json }) => [key, json]));
  return {
    ...result,
    set: result.set.filter(({ key, json }) => !isSame(overlay.get(key), json)),
    delete: result.delete.filter((key) => !overlay.has(key)),
  };
}

/** The first key of a credential that code set to something else. */
export function changedOf({ members }: CredentialOverlay, set: readonly { key: string }[]): string | undefined {
  const overlay = new Set(members.map(({ key }) => key));
  return set.find(({ key }) => overlay.has(key))?.key;
}

function isSame(overlay: string | undefined, json: string): boolean {
  return overlay !== undefined && (overlay === json || isDeepStrictEqual(JSON.parse(overlay), JSON.parse(json)));
}
