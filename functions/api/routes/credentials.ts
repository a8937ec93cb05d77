import type { CredentialOwner } from "@nova/engine";
import * as service from "@nova/service";
import { z } from "zod";
import { type Route, route } from "../http/route.ts";
import { CredentialItem, CredentialName, CredentialRequest } from "../schemas/client.ts";
import { listRoute } from "../schemas/list.ts";
import { Slug, WorkflowId } from "../schemas/values.ts";
import { viewOf } from "../schemas/view.ts";

/** The four routes that clients and workflows share. */
function credentialRoutes(path: `/${string}`, owner: z.ZodObject, whose: string): Route[] {
  const one = owner.extend({ name: CredentialName });
  const ownerOf = (params: object) =>
    ("slug" in params ? { client: params.slug } : { workflow: (params as { id: string }).id }) as CredentialOwner;
  const ofOne = (params: object) => ({ owner: ownerOf(params), name: (params as { name: string }).name });
  return [
    listRoute(`${path}/credentials`, {
      summary: `Credentials of ${whose} by name, without their values`,
      role: "viewer",
      params: owner,
      item: CredentialItem,
      cursor: /^\d{1,4}$/,
      list: (ports, { by, params }) => service.listCredentials(ports, by, ownerOf(params)),
      show: credentialItem,
    }),
    route(`GET ${path}/credentials/{name}`, {
      summary: `A credential of ${whose}, without its values`,
      role: "viewer",
      params: one,
      answers: { 200: { description: "the credential", schema: CredentialItem } },
      handle: async (ports, { by, params }) => credentialItem(await service.credentialOf(ports, by, ofOne(params))),
    }),
    route(`PUT ${path}/credentials/{name}`, {
      summary: `Store a credential of ${whose}, replacing an earlier one`,
      role: "admin",
      params: one,
      body: CredentialRequest,
      answers: { 200: { description: "stored", schema: CredentialItem } },
      handle: async (ports, { by, params, body }) =>
        credentialItem(await service.setCredential(ports, by, { ...ofOne(params), ...body })),
    }),
    route(`DELETE ${path}/credentials/{name}`, {
      summary: `Remove a credential of ${whose}`,
      role: "admin",
      params: one,
      answers: { 204: { description: "removed" } },
      handle: (ports, { by, params }) => service.removeCredential(ports, by, ofOne(params)),
    }),
  ];
}

const credentialItem = (credential: service.CredentialInfo) => viewOf(CredentialItem, credential);

export const ofClient = credentialRoutes("/clients/{slug}", z.object({ slug: Slug }), "a client");

const forAll = "a workflow, which its runs get for every client";
export const ofWorkflow = credentialRoutes("/workflows/{id}", z.object({ id: WorkflowId }), forAll);

const Rotated = z
  .object({
    sealed: z.int().meta({ description: "credentials that the new key encrypts" }),
    locked: z.array(z.string()).meta({ description: "credentials that no key opens: store them again" }),
  })
  .meta({ id: "RotatedCredentials" });

export const rotate = route("POST /credentials/rotate", {
  summary: "Encrypt every credential with a new key; continues an interrupted rotation; needs a key for all clients",
  role: "admin",
  answers: { 200: { description: "done", schema: Rotated } },
  handle: (ports, { by, once }) => once(() => service.rotateCredentials(ports, by)),
});
