/** Ports of the service that need no AWS. A separate entry point: a process that opens a cloud loads nothing else of the service. */
export { trustIssuer } from "./access/issuer.ts";
export { createRates } from "./access/rates.ts";
export { dmarcPolicies } from "./mail/ses-headers.ts";
export { imapMailboxes } from "./mailboxes/imap.ts";
export { createPoster, PostFailed } from "./outgoing/outgoing.ts";
