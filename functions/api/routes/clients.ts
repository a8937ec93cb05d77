import { changeClient, clientOf, createClient, deleteClient, listClients } from "@nova/service";
import { onFailureOf } from "@nova/workflow";
import { z } from "zod";
import { route } from "../http/route.ts";
import { ClientChanges, ClientItem, ClientRequest, clientItem } from "../schemas/client.ts";
import { listRoute } from "../schemas/list.ts";
import { Slug } from "../schemas/values.ts";
import { sentIn } from "../schemas/view.ts";

const params = z.object({ slug: Slug });

export const create = route("POST /clients", {
  summary: "Create a client; needs a key for all clients",
  role: "admin",
  body: ClientRequest,
  answers: { 201: { description: "the client", schema: ClientItem } },
  // An answer for repetitions must be plain JSON; a new client has no variables.
  handle: async (ports, { by, body, once }) => ({
    ...(await once(async () => clientItem(await createClient(ports, by, body)))),
    variables: {},
  }),
});

export const list = listRoute("/clients", {
  summary: "Clients by slug; a key of one client sees only that one",
  role: "viewer",
  item: ClientItem,
  cursor: /^[a-z0-9-]{1,63}$/,
  list: (ports, { by, page }) => listClients(ports, by, page),
  show: clientItem,
});

export const get = route("GET /clients/{slug}", {
  summary: "A client",
  role: "viewer",
  params,
  answers: { 200: { description: "the client", schema: ClientItem } },
  handle: async (ports, { by, params: { slug } }) => clientItem(await clientOf(ports, by, slug)),
});

export const change = route("PATCH /clients/{slug}", {
  summary: "Change a client's name, pinned versions, variables, quotas, or receivers of failure notices",
  role: "editor",
  params,
  body: ClientChanges,
  exact: ["variables"],
  answers: { 200: { description: "the client", schema: ClientItem } },
  async handle(ports, { by, params: { slug }, body: { variables, quotas, on_failure, mail_from, ...plain } }) {
    const changes = {
      ...plain,
      ...(variables && { variables: variables.text }),
      ...(on_failure && { onFailure: onFailureOf(on_failure) }),
      ...(mail_from !== undefined && { mailFrom: mail_from ?? "" }),
      ...(quotas && { quotas: sentIn(quotas) }),
    };
    return clientItem(await changeClient(ports, by, slug, changes));
  },
});

export const remove = route("DELETE /clients/{slug}", {
  summary: "Delete a client: NOVA cancels open runs and erases contents; digests stay, and verify",
  role: "admin",
  params,
  answers: { 202: { description: "NOVA erases it; `GET /clients/{slug}` answers 404 afterwards" } },
  handle: (ports, { by, params: { slug } }) => deleteClient(ports, by, slug),
});
