import { buffer } from "node:stream/consumers";
import type { ImapTrigger, MailTrigger } from "@nova/workflow";
import { defined } from "@nova/workflow/defined";
import { defaultClient } from "../ports/clients.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { Delivery, DmarcPolicies } from "../ports/triggers.ts";
import {
  describeTrigger,
  type FoundTrigger,
  findTrigger,
  recordRefusedDelivery,
  startFromTrigger,
} from "../triggers/start.ts";
import { mailKey } from "../triggers/sync.ts";
import { guardProblem, largestMailBytes, tooLargeReason } from "./guard.ts";
import {
  addressesIn,
  identifyMail,
  longestHeadBytes,
  type MailHeader,
  noSingleSender,
  type RawMail,
  readHeaders,
  senderProblem,
} from "./headers.ts";
import { mailContext, parseMail } from "./parse-mail.ts";
import { receivedFor, sesHeaders, type Verdicts, verdictsOf } from "./ses-headers.ts";

/** The destination of a mail: the address of a trigger, and a client. */
export interface Recipient {
  text: string;
  address: string;
  client?: string;
}

/** Maximum number of recipients of a mail. It is limited, because each recipient may start a run. */
const maxRecipients = 50;

/**
 * Returns the recipients of a mail that belong to NOVA. SES may name only one of several recipients. So if NOVA's
 * domains are configured, the addresses in To and Cc that belong to these domains are recipients, too.
 */
export function recipientsOf(headers: readonly MailHeader[], ses: readonly MailHeader[], domains: readonly string[]) {
  const received = receivedFor(ses);
  const named = headers.filter(({ name }) => name === "to" || name === "cc").flatMap(({ value }) => addressesIn(value));
  const isOurs = (address: string) => domains.includes(address.slice(address.lastIndexOf("@") + 1));
  const own = domains.length > 0 ? [...received, ...named].filter(isOurs) : received.length > 0 ? received : named;
  return [...new Set(own)].slice(0, maxRecipients).map(recipientOf);
}

/** Splits a recipient: `invoices+acme@in.example.com` is the trigger address `invoices` and the client `acme`. */
function recipientOf(text: string): Recipient {
  const local = text.slice(0, text.lastIndexOf("@"));
  const [, address = "", client] = /^([^+]*)(?:\+(.*))?$/s.exec(local) ?? [];
  return defined({ text, address, client });
}

/**
 * Returns why the verdicts of SES require that NOVA refuses a mail; undefined if they allow it. If a domain asks to
 * reject forged mail, SES must have proven the sender: a missing or unreadable result counts as a failure.
 */
export async function verdictProblem({ spam, virus, provenDomain }: Verdicts, sender: string, policies: DmarcPolicies) {
  if (virus === "FAIL") return "SES found a virus in it";
  if (spam === "FAIL") return "SES takes it for spam";
  if (sender === "") return noSingleSender;
  const domain = sender.slice(sender.lastIndexOf("@") + 1);
  if (provenDomain === domain || (await policies(domain)) !== "reject") return undefined;
  return `it is not proven to be from ${domain} (DMARC), and the domain asks to reject such mail`;
}

/** The fields of a delivery whose mail matches no trigger. */
const noTrigger = { type: "mail", workflow: null, trigger: null, client: null } as const;

/**
 * Starts a run, or records a refusal, for each recipient that belongs to NOVA. Throws only for outages, never for a bad
 * mail.
 */
export async function receiveMail(ports: ServicePorts, key: string): Promise<Delivery[]> {
  const refuse = async (reason: string) => [
    await recordRefusedDelivery(ports, { ...noTrigger, dedupe: key, from: "", about: "" }, reason),
  ];
  const stored = await ports.incomingMail.open(key);
  if (!stored) return refuse(`there is no ${key} in the bucket any more`);
  if (stored.bytes > largestMailBytes) {
    for await (const _ of stored.chunks) break; // A body that is not read would keep its connection open.
    return refuse(tooLargeReason(stored.bytes));
  }
  const raw = await buffer(stored.chunks);
  const headers = readHeaders(raw);
  if (!headers) return refuse(`its head does not end within ${longestHeadBytes} bytes`);
  return deliver(ports, { raw, headers });
}

async function deliver(ports: ServicePorts, mail: RawMail): Promise<Delivery[]> {
  const { dedupe, from, about } = identifyMail(mail);
  const head = { dedupe, from, about };
  const ses = sesHeaders(mail.headers);
  const recipients = recipientsOf(mail.headers, ses, ports.mail.domains);
  if (recipients.length === 0)
    return [await recordRefusedDelivery(ports, { ...noTrigger, ...head }, "it is for no address of ours")];
  const refused = await verdictProblem(verdictsOf(ses), from, ports.mail.dmarcPolicies);
  const deliveries: Delivery[] = [];
  for (const recipient of recipients) {
    const place = await findRecipientTrigger(ports, recipient);
    if ("reason" in place) {
      const known = { ...noTrigger, ...head, client: place.gone, dedupe: `${dedupe} ${recipient.text}` };
      deliveries.push(await recordRefusedDelivery(ports, known, place.reason));
    } else if (refused !== undefined) {
      const known = { ...describeTrigger(place), ...head };
      deliveries.push(await recordRefusedDelivery(ports, known, refused));
    } else deliveries.push(await startFromMail(ports, place, mail));
  }
  return deliveries;
}

/**
 * The reason why a mail starts no run. `gone` names a client that does not exist. That client may have been erased, so
 * NOVA stores nothing about a mail for it.
 */
interface NoPlace {
  reason: string;
  gone: string | null;
}

async function findRecipientTrigger(
  ports: ServicePorts,
  recipient: Recipient,
): Promise<FoundTrigger<MailTrigger> | NoPlace> {
  const found = recipient.address === "" ? undefined : await findTrigger(ports, mailKey(recipient.address), "mail");
  if (!found) return noPlace(`no workflow has the mail address "${recipient.address}", of ${recipient.text}`);
  const client = recipient.client ?? found.client;
  if (found.trigger.client !== undefined && found.client !== client) {
    return noPlace(`"${recipient.address}" takes no mail for the client "${client}"`);
  }
  const isThere = client === defaultClient || (await ports.clients.get(client)) !== undefined;
  if (isThere) return { ...found, client };
  return noPlace(`there is no client "${client}", of ${recipient.text}`, client);
}

function noPlace(reason: string, gone: string | null = null): NoPlace {
  return { reason, gone };
}

/** Starts one run for a mail, or records why it is refused. A repeated mail starts no second run. */
export async function startFromMail(
  ports: ServicePorts,
  place: FoundTrigger<MailTrigger | ImapTrigger>,
  mail: RawMail,
): Promise<Delivery> {
  const { messageId, ...head } = identifyMail(mail);
  const known = { ...describeTrigger(place), ...head };
  const refuse = (reason: string) => recordRefusedDelivery(ports, known, reason);
  const refused = senderProblem(mail.headers, place.trigger.from) ?? guardProblem(mail.raw);
  if (refused !== undefined) return refuse(refused);
  const parsed = await parseMail(mail.raw).catch((error: unknown) => {
    return { reason: `it cannot be read: ${error instanceof Error ? error.message : String(error)}` };
  });
  if ("reason" in parsed) return refuse(parsed.reason);
  // The sender that the code of nodes reads must be the checked sender.
  if (head.from !== "" && head.from !== parsed.from) return refuse("its sender can be read in two ways");
  const { context, files } = mailContext(parsed, messageId);
  return startFromTrigger(ports, { ...known, about: parsed.subject, context, files });
}
