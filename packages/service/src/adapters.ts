/**
 * Exports the adapters of the service that need no AWS. This is a separate entry point, so that a process that needs
 * only these adapters does not load the rest of the service.
 */
export { trustIssuer } from "./access/issuer.ts";
export { createRates } from "./access/rates.ts";
export { dmarcPolicies } from "./mail/ses-headers.ts";
export { imapMailboxes } from "./mailboxes/imap.ts";
export { createPoster, PostFailed } from "./outgoing/outgoing.ts";
export { createTimeStamper } from "./proof/time-stamper.ts";
