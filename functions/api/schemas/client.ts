import { RawJson } from "@nova/engine";
import type { Client } from "@nova/service";
import { AuthoredOnFailure, isMailAddress } from "@nova/workflow";
import { z } from "zod";
import { ClientQuotasBody, clientQuotasItem } from "./quotas.ts";
import { Context, ExactObject, Name, Slug, Time, VersionNumber, WorkflowId } from "./values.ts";

const OnFailureItem = z.object({
  mail: z.array(z.string()).optional(),
  webhook: z.object({ url: z.string(), secret: z.string().optional() }).optional(),
});

const MailAddress = z.string().refine(isMailAddress, "must be one address, such as invoices@acme.example.com");

const mostPins = 100;

export const ClientRequest = z.strictObject({ slug: Slug, name: Name });

export const ClientChanges = z.strictObject({
  name: Name.optional(),
  pins: z
    .record(WorkflowId, VersionNumber)
    .refine((pins) => Object.keys(pins).length <= mostPins, `at most ${mostPins} workflows can be pinned`)
    .optional()
    .meta({ description: "versions of workflows that its runs use, whatever is active" }),
  variables: ExactObject.optional().meta({
    description: "what contexts of its runs begin with; what a run is sent lies over it; replaced as a whole",
  }),
  on_failure: AuthoredOnFailure.optional().meta({ description: "who hears of its failed runs; replaced as a whole" }),
  mail_from: MailAddress.nullable().optional().meta({
    description:
      "address that mails about its runs are from, which SES has verified; null: the deployment's; needs a key for all clients",
  }),
  quotas: ClientQuotasBody.optional().meta({ description: "replaced as a whole; needs a key for all clients" }),
});

export const ClientItem = z
  .object({
    slug: Slug,
    name: z.string(),
    pins: z.record(z.string(), VersionNumber),
    variables: Context.meta({ description: "numbers keep the digits that they were written with" }),
    quotas: ClientQuotasBody,
    on_failure: OnFailureItem,
    mail_from: z.string().nullable(),
    created_at: Time,
  })
  .meta({ id: "Client" });

export function clientItem({
  slug,
  name,
  pins,
  variables = "{}",
  quotas = {},
  onFailure = {},
  mailFrom,
  createdAt,
}: Client) {
  const told = { on_failure: onFailure, mail_from: mailFrom || null };
  const own = { variables: new RawJson(variables), quotas: clientQuotasItem(quotas), ...told };
  return { slug, name, pins, ...own, created_at: createdAt };
}
