import type { Connection } from "../connection.ts";
import type { Schemas } from "../schemas.ts";

/** Credentials belong to a client, or to a workflow for all of its runs. */
export type CredentialOwner = { client: string } | { workflow: string };

export interface NewCredential {
  kind: Schemas["Credential"]["kind"];
  values: Record<string, unknown>;
}

/** Credentials without their values: the API only returns names, kinds and times. */
export const credentialsAt = ({ api, ask, list }: Connection) => ({
  set: (owner: CredentialOwner, name: string, body: NewCredential) =>
    ask(
      "client" in owner
        ? api.PUT("/clients/{slug}/credentials/{name}", { params: { path: { slug: owner.client, name } }, body })
        : api.PUT("/workflows/{id}/credentials/{name}", { params: { path: { id: owner.workflow, name } }, body }),
    ),

  list: (owner: CredentialOwner) =>
    "client" in owner
      ? list("/clients/{slug}/credentials", { path: { slug: owner.client } })
      : list("/workflows/{id}/credentials", { path: { id: owner.workflow } }),

  async remove(owner: CredentialOwner, name: string): Promise<void> {
    await ask(
      "client" in owner
        ? api.DELETE("/clients/{slug}/credentials/{name}", { params: { path: { slug: owner.client, name } } })
        : api.DELETE("/workflows/{id}/credentials/{name}", { params: { path: { id: owner.workflow, name } } }),
    );
  },

  /** Encrypts all credentials with a new key. */
  rotate: () => ask(api.POST("/credentials/rotate")),
});
