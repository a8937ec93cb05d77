import { z } from "zod";
import { defined } from "../defined.ts";
import type { FailureWebhook, OnFailure } from "../workflow.ts";
import { CredentialName, textMatching } from "./fields.ts";

/**
 * Matches only ASCII, because SES sends mail only to ASCII addresses. Other letters could make two different addresses
 * look the same. They could also make the addresses equal in lower case: the Kelvin sign becomes a k.
 */
const addressPattern = /^[!-+\--;=?A-~]+@[!-+\--;=?A-~]+$/;
/** The longest mail address by RFC 5321: 64 characters, the @, and 255 characters for the domain. */
const longestAddress = 320;

/** Returns true for a single mail address. Characters that could change the header of a mail are not accepted. */
export function isMailAddress(text: string): boolean {
  return text.length <= longestAddress && addressPattern.test(text);
}

const addressError = "must be an address in ASCII such as anna@example.com";
const urlError = "must be an address that begins with https:// or http://";

const Address = textMatching(addressPattern, addressError);
const secretError =
  'must name no user and no password, which would lie in the clear in the table and in logs - write { "url": "https://...", "secret": "<a credential>" }, which signs';

const WebAddress = z.url({ protocol: /^https?$/, error: urlError });

const webhookError =
  'must be an address such as https://example.com/hook, or { "url": "https://...", "secret": "..." }';

const Webhook = z
  .union(
    [
      WebAddress.transform((url): FailureWebhook => ({ url })),
      z.strictObject({
        url: WebAddress.describe("Address for failures, which NOVA posts as JSON."),
        secret: CredentialName.describe(
          "Name of the credential whose secret signs it, in `x-nova-signature`.",
        ).optional(),
      }),
    ],
    { error: webhookError },
  )
  .refine(({ url }) => !hasUser(url), { error: secretError });

/** A web address without a user and a password, to which NOVA sends requests. */
export const PlainWebAddress = WebAddress.refine((url) => !hasUser(url), {
  error: "must name no user and no password, which would lie in the clear in the table and in logs",
});

/**
 * Returns true for an address with a user or a password. Returns false for a text that is no address, because another
 * check reports that text.
 */
function hasUser(url: string): boolean {
  const parsed = URL.parse(url);
  return parsed !== null && (parsed.username !== "" || parsed.password !== "");
}

export const AuthoredOnFailure = z.strictObject({
  mail: z.array(Address).min(1).max(20).describe("Addresses that get a mail.").optional(),
  webhook: Webhook.describe(
    "Address for failures, which NOVA posts as JSON: an address, or `{url, secret}` with the name of the credential whose secret signs it.",
  ).optional(),
});

export function onFailureOf({ mail, webhook }: z.output<typeof AuthoredOnFailure>): OnFailure {
  return defined({ mail, webhook: webhook && defined(webhook) });
}
