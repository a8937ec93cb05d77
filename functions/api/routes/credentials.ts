import type { CredentialOwner } from "@nova/engine";
import {
  type CredentialInfo,
  credentialOf,
  listCredentials,
  removeCredential,
  rotateCredentials,
  setCredential,
} from "@nova/service";
import { z } from "zod";
import { type Route, route } from "../http/route.ts";
import { CredentialItem, CredentialName, CredentialRequest } from "../schemas/client.ts";
import { listRoute } from "../schemas/list.ts";
import { Slug, WorkflowId } from "../schemas/values.ts";
import { viewOf } from "../schemas/view.ts";

interface Owners<Owner> {
  path: `/${string}`;
  whose: string;
  owner: z.ZodObject;
  ownerOf(params: Owner): CredentialOwner;
}

/** The same four of a client and of a workflow. */
function credentialRoutes<Owner>({ path, whose, owner, ownerOf }: Owners<Owner>): Route[] {
  const one = owner.extend({ name: CredentialName });
  const ofOne = (params: object) => ({ owner: ownerOf(params as Owner), name: (params as { name: string }).name });
  return [
    listRoute(`${path}/credentials`, {
      summary: `Credentials of ${whose} by name, without what is in them`,
      role: "viewer",
      params: owner,
      item: CredentialItem,
      cursor: /^\d{1,4}$/,
      list: (ports, { by, params }) => listCredentials(ports, by, ownerOf(params as Owner)),
      show: credentialItem,
    }),
    route(`GET ${path}/credentials/{name}`, {
      summary: `A credential of ${whose}, without what is in it`,
      role: "viewer",
      params: one,
      answers: { 200: { description: "the credential", schema: CredentialItem } },
      async handle(ports, { by, params }) {
        const { owner, name } = ofOne(params);
        return credentialItem(await credentialOf(ports, by, owner, name));
      },
    }),
    route(`PUT ${path}/credentials/{name}`, {
      summary: `Store a credential of ${whose}, in the place of the one before`,
      role: "admin",
      params: one,
      body: CredentialRequest,
      answers: { 200: { description: "stored", schema: CredentialItem } },
      handle: async (ports, { by, params, body }) =>
        credentialItem(await setCredential(ports, by, { ...ofOne(params), ...body })),
    }),
    route(`DELETE ${path}/credentials/{name}`, {
      summary: `Remove a credential of ${whose}`,
      role: "admin",
      params: one,
      answers: { 204: { description: "removed" } },
      async handle(ports, { by, params }) {
        const { owner, name } = ofOne(params);
        await removeCredential(ports, by, owner, name);
      },
    }),
  ];
}

const credentialItem = (credential: CredentialInfo) => viewOf(CredentialItem, credential);

export const [listOfClient, getOfClient, setOfClient, removeOfClient] = credentialRoutes({
  path: "/clients/{slug}",
  whose: "a client",
  owner: z.object({ slug: Slug }),
  ownerOf: ({ slug }: { slug: string }) => ({ client: slug }),
}) as [Route, Route, Route, Route];

export const [listOfWorkflow, getOfWorkflow, setOfWorkflow, removeOfWorkflow] = credentialRoutes({
  path: "/workflows/{id}",
  whose: "a workflow, which its runs get for every client",
  owner: z.object({ id: WorkflowId }),
  ownerOf: ({ id }: { id: string }) => ({ workflow: id }),
}) as [Route, Route, Route, Route];

const Rotated = z
  .object({
    sealed: z.int().meta({ description: "credentials that the new key has sealed" }),
    locked: z.array(z.string()).meta({ description: "those that no key opens: store them anew" }),
  })
  .meta({ id: "RotatedCredentials" });

export const rotate = route("POST /credentials/rotate", {
  summary: "Seal every credential with a new key; one that was interrupted goes on; needs a key for all clients",
  role: "admin",
  answers: { 200: { description: "done", schema: Rotated } },
  handle: (ports, { by, once }) => once(() => rotateCredentials(ports, by)),
});
