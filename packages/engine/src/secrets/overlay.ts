import { isDeepStrictEqual } from "node:util";
import type { TaskNode } from "@nova/workflow";
import type { Context } from "../context/context.ts";
import { NovaError, recoverFrom } from "../errors.ts";
import type { CredentialOverlay } from "../ports/credentials.ts";
import type { Ports } from "../ports/index.ts";
import type { WorkflowVersion } from "../ports/pipeline.ts";
import type { CodeResult } from "../ports/sandboxes.ts";
import { TokenEndpointLost } from "./credential-kinds.ts";

export const emptyOverlay: CredentialOverlay = { members: [], secrets: [], hosts: [] };

/**
 * The facts that determine which credentials a node gets: the client, the workflow version, and the names that the node
 * declares.
 */
interface Whose {
  client: string;
  version: WorkflowVersion;
  node: Pick<TaskNode, "credentials">;
}

/** Returns the credentials that a node's context receives. Throws the errors of `Credentials.forNode`. */
export async function credentialOverlay({ credentials }: Pick<Ports, "credentials">, whose: Whose) {
  const names = declared(whose);
  if (names?.length === 0) return emptyOverlay;
  return credentials.forNode(whose.client, whose.version.workflowId, names);
}

/**
 * Returns the same as `credentialOverlay`, for a delivery that finds the code already running. A token endpoint that
 * does not answer must not end this code, so this function throws an error that Step Functions retries.
 */
export async function overlayAgain(ports: Pick<Ports, "credentials">, whose: Whose): Promise<CredentialOverlay> {
  try {
    return await credentialOverlay(ports, whose);
  } catch (error) {
    if (!(error instanceof NovaError && error.cause instanceof TokenEndpointLost)) throw error;
    throw new NovaError("SandboxUnavailable", error.message, { cause: error.cause });
  }
}

/**
 * Returns the credentials of code that is being stopped or has ended. Callers mask these credentials in the output of
 * the code. A missing or broken credential is no error here.
 */
export async function overlayBefore(ports: Pick<Ports, "credentials">, whose: Whose): Promise<CredentialOverlay> {
  const { client, version } = whose;
  const opening = ports.credentials.forNode(client, version.workflowId, declared(whose), { asStored: true });
  const found = await opening.catch(recoverFrom(NovaError, () => null));
  return found ?? { ...emptyOverlay, secrets: await ports.credentials.secretsOf(client, version.workflowId) };
}

function declared({ version: { workflow }, node }: Whose): readonly string[] | undefined {
  return node.credentials ?? workflow.credentials;
}

/**
 * Returns the context that code sees: the input and the credentials. A credential replaces an input with the same key.
 */
export function withOverlay(input: Context, { members }: CredentialOverlay): Context {
  return members.length === 0 ? input : input.apply({ set: members, delete: [] }, "");
}

/** Removes two things from a result: credentials that the code left unchanged, and deletions of credentials. */
export function withoutOverlay(result: CodeResult, { members }: CredentialOverlay): CodeResult {
  if (result.status === "error" || members.length === 0) return result;
  const overlay = new Map(members.map(({ key, json }) => [key, json]));
  return {
    ...result,
    set: result.set.filter(({ key, json }) => !isSame(overlay.get(key), json)),
    delete: result.delete.filter((key) => !overlay.has(key)),
  };
}

/** Returns the first key of a credential to which code assigned another value. */
export function changedOf({ members }: CredentialOverlay, set: readonly { key: string }[]): string | undefined {
  const overlay = new Set(members.map(({ key }) => key));
  return set.find(({ key }) => overlay.has(key))?.key;
}

function isSame(overlay: string | undefined, json: string): boolean {
  return overlay !== undefined && (overlay === json || isDeepStrictEqual(JSON.parse(overlay), JSON.parse(json)));
}
