import { changeClient, clientOf, createClient, deleteClient, listClients } from "@nova/service";
import { onFailureOf } from "@nova/workflow";
import { z } from "zod";
import { route } from "../http/route.ts";
import { ClientChanges, ClientItem, ClientRequest, clientItem } from "../schemas/client.ts";
import { ListQuery, listAnswer, listOf, pageQuery } from "../schemas/list.ts";
import { clientQuotas } from "../schemas/quotas.ts";
import { Slug } from "../schemas/values.ts";

const params = z.object({ slug: Slug });

export const create = route({
  method: "POST",
  path: "/clients",
  summary: "Make a client; needs a key for all clients",
  role: "admin",
  body: ClientRequest,
  answers: { 201: { description: "the client", schema: ClientItem } },
  handle: async (ports, { by, body, once }) => ({
    status: 201,
    // What is kept for repetitions is plain JSON; a new client has no variables.
    body: { ...(await once(async () => clientItem(await createClient(ports, by, body)))), variables: {} },
  }),
});

export const list = route({
  method: "GET",
  path: "/clients",
  summary: "Clients by slug; with a key of one client, that one",
  role: "viewer",
  query: ListQuery,
  answers: { 200: { description: "a page", schema: listOf(ClientItem) } },
  handle: async (ports, { by, query }) =>
    listAnswer(await listClients(ports, by, pageQuery(query, /^[a-z0-9-]{1,63}$/)), clientItem),
});

export const get = route({
  method: "GET",
  path: "/clients/{slug}",
  summary: "A client",
  role: "viewer",
  params,
  answers: { 200: { description: "the client", schema: ClientItem } },
  handle: async (ports, { by, params: { slug } }) => ({
    status: 200,
    body: clientItem(await clientOf(ports, by, slug)),
  }),
});

export const change = route({
  method: "PATCH",
  path: "/clients/{slug}",
  summary: "Change a client's name, pinned versions, variables, quotas, or who hears of its failed runs",
  role: "editor",
  params,
  body: ClientChanges,
  exact: ["variables"],
  answers: { 200: { description: "the client", schema: ClientItem } },
  async handle(ports, { by, params: { slug }, body: { name, pins, variables, quotas, on_failure, mail_from } }) {
    const changes = {
      ...(name !== undefined && { name }),
      ...(pins !== undefined && { pins }),
      ...(variables !== undefined && { variables: variables.text }),
      ...(on_failure !== undefined && { onFailure: onFailureOf(on_failure) }),
      ...(mail_from !== undefined && { mailFrom: mail_from ?? "" }),
      ...(quotas !== undefined && { quotas: clientQuotas(quotas) }),
    };
    return { status: 200, body: clientItem(await changeClient(ports, by, slug, changes)) };
  },
});

export const remove = route({
  method: "DELETE",
  path: "/clients/{slug}",
  summary: "Delete a client: open runs are cancelled, what runs knew is erased; digests stay, and verify",
  role: "admin",
  params,
  answers: { 202: { description: "it is being erased; `GET /clients/{slug}` answers 404 once it is gone" } },
  async handle(ports, { by, params: { slug } }) {
    await deleteClient(ports, by, slug);
    return { status: 202 };
  },
});
