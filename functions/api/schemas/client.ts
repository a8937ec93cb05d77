import { credentialKindNames, RawJson } from "@nova/engine";
import { type ApiKey, auditActions, type Client, roles } from "@nova/service";
import { AuthoredOnFailure, isMailAddress } from "@nova/workflow";
import { z } from "zod";
import { ClientQuotasBody } from "./quotas.ts";
import { Context, ExactObject, KeyId, Name, Slug, Time, VersionNumber, WorkflowId } from "./values.ts";
import { viewOf } from "./view.ts";

const OnFailureItem = z.object({
  mail: z.array(z.string()).optional(),
  webhook: z.object({ url: z.string(), secret: z.string().optional() }).optional(),
});

const MailAddress = z.string().refine(isMailAddress, "must be one address, such as invoices@acme.example.com");

const maxPins = 100;

export const ClientRequest = z.strictObject({ slug: Slug, name: Name });

export const ClientChanges = z.strictObject({
  name: Name.optional(),
  pins: z
    .record(WorkflowId, VersionNumber)
    .refine((pins) => Object.keys(pins).length <= maxPins, `at most ${maxPins} workflows can be pinned`)
    .optional()
    .meta({ description: "versions of workflows that its runs use instead of the active ones" }),
  variables: ExactObject.optional().meta({
    description:
      "values with which contexts of its runs start; the context of a request overrides them; replaced as a whole",
  }),
  on_failure: AuthoredOnFailure.optional().meta({
    description: "receivers of notices about its failed runs; replaced as a whole",
  }),
  mail_from: MailAddress.nullable().optional().meta({
    description:
      "sender of mails about its runs, an address that SES has verified; null: the deployment's; needs a key for all clients",
  }),
  quotas: ClientQuotasBody.optional().meta({ description: "replaced as a whole; needs a key for all clients" }),
});

export const ClientItem = z
  .object({
    slug: Slug,
    name: z.string(),
    pins: z.record(z.string(), VersionNumber),
    variables: Context.meta({ description: "numbers keep their digits" }),
    quotas: ClientQuotasBody,
    on_failure: OnFailureItem,
    mail_from: z.string().nullable(),
    created_at: Time,
  })
  .meta({ id: "Client" });

export function clientItem(client: Client) {
  const { variables = "{}", quotas = {}, onFailure = {}, mailFrom } = client;
  return viewOf(ClientItem, client, {
    variables: new RawJson(variables),
    quotas: viewOf(ClientQuotasBody, quotas),
    on_failure: onFailure,
    mail_from: mailFrom || null,
  });
}

/** Prefix of the keys under which code finds a second credential of a kind. */
export const CredentialName = z.string().regex(/^[a-z][a-z0-9_]{0,39}$/);

/** docs/credentials.md describes the values of each kind; storing checks them. */
export const CredentialRequest = z.strictObject({
  kind: z.enum(credentialKindNames),
  values: z.record(z.string(), z.unknown()).meta({ description: "write-only: no answer contains them" }),
});

export const CredentialItem = z
  .object({ name: CredentialName, kind: z.enum(credentialKindNames), changed_at: Time })
  .meta({ id: "Credential" });

export const KeyRequest = z.strictObject({
  role: z.enum(roles),
  client_slug: Slug.optional().meta({
    description: "the one client that it reaches; absent: the reach of the calling key",
  }),
  name: Name.optional(),
});

export const KeyItem = z
  .object({
    id: KeyId,
    role: z.enum(roles),
    client_slug: Slug.nullable(),
    name: z.string(),
    created_at: Time,
    created_by: z.string().nullable().meta({ description: "id of a key, or of a subject of the issuer" }),
  })
  .meta({ id: "Key" });

export const CreatedKey = KeyItem.extend({
  key: z.string().meta({ description: "NOVA shows it once and stores only its digest" }),
}).meta({ id: "CreatedKey" });

export const keyItem = (key: ApiKey) => viewOf(KeyItem, key, { client_slug: key.client });

export const AuditItem = z
  .object({
    id: z.string(),
    at: Time,
    action: z.enum(auditActions),
    by: z.string().nullable().meta({ description: "id of the key; null: the administrator who set NOVA up" }),
    client_slug: z.string().nullable(),
    subject: z.string(),
    detail: z.record(z.string(), z.union([z.string(), z.number()])),
  })
  .meta({ id: "AuditRecord" });
