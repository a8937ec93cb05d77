import type { Member } from "../json/text.ts";
import type { CredentialOwner } from "./credential-store.ts";

/** What a node's code finds of credentials, and nobody but it. */
export interface CredentialOverlay {
  /** Lie over the context in the sandbox, each value as JSON text, and never leave it. */
  members: Member[];
  /** Values that nothing which is kept or shown may contain. */
  secrets: string[];
  /** `host:port`, all that the credentials are for. */
  hosts: string[];
}

/** Credentials of clients and workflows, opened. */
export interface Credentials {
  /**
   * Those that a node declares; `names` undefined: all of the client's and of the workflow's. Throws `NodeFailed` where
   * one that is named is not there or does not open, or a token endpoint gives no token. `asStored`: no endpoint is asked
   * and nothing is stored, tokens are those that were got last. `workflowId` null: only the client's own, for a use that
   * the client itself has chosen.
   */
  forNode(
    client: string,
    workflowId: string | null,
    names: readonly string[] | undefined,
    how?: { asStored: boolean },
  ): Promise<CredentialOverlay>;
  /** The secret values of a client and a workflow as far as they open: for text that was made with them before. */
  secretsOf(client: string, workflowId: string): Promise<string[]>;
  /** What this process has read of an owner counts no more: somebody has just stored something here. */
  forget(owner: CredentialOwner): void;
}
