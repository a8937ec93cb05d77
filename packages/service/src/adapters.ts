/** Ports of the service that need no AWS. A separate entry point: a process that opens a cloud loads nothing else of the service. */
export { trustIssuer } from "./access/issuer.ts";
export { createRates } from "./access/rates.ts";
export { createPoster, PostFailed } from "./failures/poster.ts";
export { dmarcPolicies } from "./mail/dmarc.ts";
export { imapMailboxes } from "./mailboxes/imap.ts";
