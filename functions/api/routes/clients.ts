import { type CredentialOwner, credentialKindNames, RawJson } from "@nova/engine";
import * as service from "@nova/service";
import { AuthoredOnFailure, isMailAddress, onFailureOf } from "@nova/workflow";
import { z } from "zod";
import { type Route, route } from "../http/route.ts";
import { listRoute } from "../schemas/list.ts";
import * as values from "../schemas/values.ts";

/** The minimum is a tenth of a cent, which is less than any request to a model costs. */
const Usd = z.number().min(0.001).max(1_000_000).nullable().optional();
const Days = z.int().min(1).max(3650).nullable().optional();

const ClientQuotasBody = z
  .strictObject({
    max_concurrent: values.Slots.describe("simultaneous runs, of all workflows together; others are `queued`"),
    max_cost_usd: Usd.describe("US dollars that models may cost in a calendar month (UTC)"),
    retention_days: Days.describe("days for which NOVA keeps the contents of a run after its end"),
  })
  .meta({ id: "ClientQuotas", description: "null or absent: no limit" });

const OnFailureItem = z.object({
  mail: z.array(z.string()).optional(),
  webhook: z.object({ url: z.string(), secret: z.string().optional() }).optional(),
});

const MailAddress = z.string().refine(isMailAddress, "must be one address, such as invoices@acme.example.com");

const maxPins = 100;

const ClientRequest = z.strictObject({ slug: values.Slug, name: values.Name });

const ClientChanges = z.strictObject({
  name: values.Name.optional(),
  pins: z
    .record(values.WorkflowId, values.VersionNumber)
    .refine((pins) => Object.keys(pins).length <= maxPins, `at most ${maxPins} workflows can be pinned`)
    .optional()
    .describe("versions of workflows that its runs use instead of the active ones"),
  variables: values.ExactObject.optional().describe(
    "values with which contexts of its runs start; the context of a request overrides them; replaced as a whole",
  ),
  on_failure: AuthoredOnFailure.optional().describe("receivers of notices about its failed runs; replaced as a whole"),
  mail_from: MailAddress.nullable()
    .optional()
    .describe(
      "sender of mails about its runs, an address that SES has verified; null: the deployment's; needs a key for all clients",
    ),
  quotas: ClientQuotasBody.optional().describe("replaced as a whole; needs a key for all clients"),
});

const ClientItem = values.named("Client", {
  slug: values.Slug,
  name: z.string(),
  pins: z.record(z.string(), values.VersionNumber),
  variables: values.Context.describe("numbers keep their digits"),
  quotas: ClientQuotasBody,
  on_failure: OnFailureItem,
  mail_from: z.string().nullable(),
  created_at: values.Time,
});

function clientItem(client: service.Client) {
  const { variables = "{}", quotas = {}, onFailure = {}, mailFrom } = client;
  return values.viewOf(ClientItem, client, {
    variables: new RawJson(variables),
    quotas: values.viewOf(ClientQuotasBody, quotas),
    on_failure: onFailure,
    mail_from: mailFrom || null,
  });
}

/**
 * Name of a credential. If code gets two credentials of one kind, it finds the values of the second one under keys that
 * start with this name.
 */
const CredentialName = z.string().regex(/^[a-z][a-z0-9_]{0,39}$/);

/** docs/credentials.md describes the values of each kind. The service checks the values before it stores them. */
const CredentialRequest = z.strictObject({
  kind: z.enum(credentialKindNames),
  values: z.record(z.string(), z.unknown()).describe("write-only: no answer contains them"),
});

const CredentialItem = values.named("Credential", {
  name: CredentialName,
  kind: z.enum(credentialKindNames),
  changed_at: values.Time,
});

const KeyRequest = z.strictObject({
  role: z.enum(service.roles),
  client_slug: values.Slug.optional().describe("the one client that it reaches; absent: the reach of the calling key"),
  name: values.Name.optional(),
  identity: MailAddress.optional().describe(
    "mail address of the person who has the key, who then answers approvals with it",
  ),
});

const KeyItem = values.named("Key", {
  id: values.KeyId,
  role: z.enum(service.roles),
  client_slug: values.Slug.nullable(),
  name: z.string(),
  identity: z.string().nullable().describe("the person for whom the key answers approvals; null: none"),
  created_at: values.Time,
  created_by: z.string().nullable().describe("id of a key, or of a subject of the issuer"),
});

const CreatedKey = KeyItem.extend({
  key: z.string().describe("NOVA shows it once and stores only its digest"),
}).meta({ id: "CreatedKey" });

const keyItem = (key: service.ApiKey) =>
  values.viewOf(KeyItem, key, { client_slug: key.client, identity: key.identity ?? null });

const params = z.object({ slug: values.Slug });

export const create = route("POST /clients", {
  summary: "Create a client; needs a key for all clients",
  role: "admin",
  body: ClientRequest,
  answers: { 201: { description: "the client", schema: ClientItem } },
  // Adds `variables` outside `once`, because `once` stores only plain JSON. A new client has no variables.
  handle: async (ports, { by, body, once }) => ({
    ...(await once(async () => clientItem(await service.createClient(ports, by, body)))),
    variables: {},
  }),
});

export const list = listRoute("/clients", {
  summary: "Clients by slug; a key of one client sees only that one",
  role: "viewer",
  item: ClientItem,
  cursor: /^[a-z0-9-]{1,63}$/,
  list: (ports, { by, page }) => service.listClients(ports, by, page),
  show: clientItem,
});

export const get = route("GET /clients/{slug}", {
  summary: "A client",
  role: "viewer",
  params,
  answers: { 200: { description: "the client", schema: ClientItem } },
  handle: async (ports, { by, params: { slug } }) => clientItem(await service.clientOf(ports, by, slug)),
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
      ...(quotas && { quotas: values.sentIn(quotas) }),
    };
    return clientItem(await service.changeClient(ports, by, slug, changes));
  },
});

export const remove = route("DELETE /clients/{slug}", {
  summary: "Delete a client: NOVA cancels open runs and erases contents; digests stay, and verify",
  role: "admin",
  params,
  answers: { 202: { description: "NOVA erases it; `GET /clients/{slug}` answers 404 afterwards" } },
  handle: (ports, { by, params: { slug } }) => service.deleteClient(ports, by, slug),
});

export const makeKey = route("POST /keys", {
  summary: "Create an API key, which NOVA shows once",
  role: "admin",
  body: KeyRequest,
  answers: { 201: { description: "the key", schema: CreatedKey } },
  async handle(ports, { by, body: { client_slug: client, ...body }, once }) {
    let text: string | undefined;
    const made = await once(async (ulid): Promise<ReturnType<typeof keyItem>> => {
      const created = await service.createKey(ports, by, { ulid, ...body, ...(client !== undefined && { client }) });
      text = created.text;
      return keyItem(created.key);
    });
    if (text !== undefined) return { ...made, key: text };
    // NOVA does not store the key, so the answer to a repeated request cannot contain it.
    const shown = `key "${made.id}" was made and shown by an earlier request`;
    throw new service.Conflict(`${shown} - DELETE /keys/${made.id} and make another`);
  },
});

export const keys = listRoute("/keys", {
  summary: "Keys, oldest first, without their secrets",
  role: "admin",
  item: KeyItem,
  cursor: /^key_[0-9A-Z]{26}$/,
  list: (ports, { by, page }) => service.listKeys(ports, by, page),
  show: keyItem,
});

export const removeKey = route("DELETE /keys/{id}", {
  summary: "Delete a key, which stops working at once",
  role: "admin",
  params: z.object({ id: values.KeyId }),
  answers: { 204: { description: "deleted" }, 409: { description: "it is the key of the request" } },
  handle: (ports, { by, params: { id } }) => service.deleteKey(ports, by, id),
});

/** Creates the four routes for the credentials of an owner: of a client, or of a workflow. */
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

const credentialItem = (credential: service.CredentialInfo) => values.viewOf(CredentialItem, credential);

export const ofClient = credentialRoutes("/clients/{slug}", z.object({ slug: values.Slug }), "a client");

const forAll = "a workflow, which its runs get for every client";
export const ofWorkflow = credentialRoutes("/workflows/{id}", z.object({ id: values.WorkflowId }), forAll);

const Rotated = values.named("RotatedCredentials", {
  sealed: z.int().describe("credentials that the new key encrypts"),
  locked: z.array(z.string()).describe("credentials that no key opens: store them again"),
});

export const rotate = route("POST /credentials/rotate", {
  summary: "Encrypt every credential with a new key; continues an interrupted rotation; needs a key for all clients",
  role: "admin",
  answers: { 200: { description: "done", schema: Rotated } },
  handle: (ports, { by, once }) => once(() => service.rotateCredentials(ports, by)),
});
