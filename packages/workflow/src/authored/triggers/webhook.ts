import { z } from "zod";
import { defined } from "../../defined.ts";
import { dotPathPattern } from "../../template/template.ts";
import type { WebhookSignature } from "../../workflow.ts";
import { CredentialName, duration, seconds, text, textMatching } from "../fields.ts";
import { clientField, plainName, type TriggerKind } from "./kind.ts";

const headerError = "must be the name of an HTTP header";
const dedupeError = "must be headers. and the name of a header, or body. and a dot path: headers.x-delivery, body.id";

const Signature = z.strictObject(
  {
    header: textMatching(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, headerError)
      .transform((header) => header.toLowerCase())
      .describe("The header that carries the HMAC of the body, in hex or base64."),
    secret: CredentialName.describe("Name of the credential that holds the key."),
    algorithm: z
      .enum(["sha1", "sha256", "sha512"], { error: "must be sha1, sha256 or sha512" })
      .describe("How the digest is made.")
      .prefault("sha256"),
    prefix: text("Text before the digest: `sha256=`.").optional(),
    tolerance: duration(
      "For a header such as Stripe's, `t=1492774577,v1=<digest>`, whose digest is of the time, a dot and the body: how old a request may be. `prefix` is `v1=` where absent.",
    ).optional(),
  },
  { error: 'must be an object such as { "header": "x-signature", "secret": "stripe" }' },
);

export const AuthoredWebhookTrigger = z
  .strictObject({
    id: plainName("The last part of its address, `/hooks/<id>`. No other workflow may have it."),
    type: z.literal("webhook").describe("A request arrives."),
    signature: Signature.describe(
      "How the sender signs: `header` carries the HMAC of the body in hex or base64, made with the key in the credential `secret`; `algorithm` is `sha256` where absent, `prefix` is the text before the digest. Absent: anyone who knows the address may call it.",
    ).optional(),
    dedupe: z
      .string({ error: dedupeError })
      .refine((path) => /^(headers|body)\../.test(path) && dotPathPattern.test(path), { error: dedupeError })
      .describe(
        "The id of the delivery in a request, so that a repeated delivery starts no second run: `headers.x-delivery`, `body.id`. The body counts instead if the id is missing or empty, or if it is a header of a signed request, because signatures do not cover headers.",
      )
      .optional(),
    wait: seconds(
      { min: 1, max: 25, integer: true },
      "How many seconds the request waits for the end of the run and its result. Absent: it is answered at once.",
    ).optional(),
    ...clientField,
  })
  .describe("A request `POST /hooks/<id>`, with the sender's signature.");

export const webhookTrigger: TriggerKind<typeof AuthoredWebhookTrigger> = {
  schema: AuthoredWebhookTrigger,
  codes: {},
  normalise: ({ signature, dedupe, wait, ...same }, id) =>
    defined({
      ...same,
      id,
      signature: signature && signatureOf(signature),
      dedupe: dedupe?.startsWith("headers.") ? dedupe.toLowerCase() : dedupe,
      waitSeconds: wait,
    }),
};

function signatureOf({ tolerance, ...same }: z.output<typeof Signature>): WebhookSignature {
  return defined({ ...same, toleranceSeconds: tolerance });
}
