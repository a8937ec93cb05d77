import { RetentionDays } from "aws-cdk-lib/aws-logs";
import { RemovalPolicy } from "aws-cdk-lib/core";
import { functionArn, novaName } from "./access.ts";
import type { Grantable } from "./grants.ts";
import type { Stack } from "./sst.ts";

/** Variables that functions get if the deploying shell has set them. functions/ explains them. */
const passedVariables = [
  "DEFAULT_MODEL",
  "E2B_TEMPLATE_ID",
  "NOVA_API_URL",
  "NOVA_CORS_ORIGINS",
  "NOVA_E2B_CONCURRENT",
  "NOVA_E2B_CREATES_PER_SECOND",
  "NOVA_EMBEDDING_MODEL",
  "NOVA_FROZEN",
  "NOVA_JWT_AUDIENCE",
  "NOVA_JWT_CLIENT_CLAIM",
  "NOVA_JWT_GROUPS_CLAIM",
  "NOVA_JWT_ISSUER",
  "NOVA_JWT_JWKS_URL",
  "NOVA_JWT_ROLES_CLAIM",
  "NOVA_JWT_ROLE_CLAIM",
  "NOVA_LINK_BASE",
  "NOVA_LLM_API",
  "NOVA_MAIL_DOMAINS",
  "NOVA_MODELS",
  "NOVA_PRIVATE_HOSTS",
  "NOVA_RATE_PER_KEY",
  "NOVA_TSA_URL",
  "OPENAI_BASE_URL",
];

/**
 * The number of concurrent sandboxes that E2B's plan Pro allows. Clients take turns, so that many runs of one client do
 * not block runs of other clients.
 */
const defaults = { NOVA_E2B_CONCURRENT: "100" };

export function settingsFrom(variables: NodeJS.ProcessEnv): Record<string, string> {
  return {
    ...defaults,
    ...Object.fromEntries(passedVariables.flatMap((name) => (variables[name] ? [[name, variables[name]]] : []))),
  };
}

/** Returns whether a function verifies all chains once a day. */
export function verifiesDaily({ NOVA_VERIFY: often = "" }: NodeJS.ProcessEnv): boolean {
  if (often === "" || often === "daily") return often === "daily";
  throw new Error(`NOVA_VERIFY is "${often}" - set it to "daily", or leave it out`);
}

const maxProofKeys = 20;

/**
 * Returns how many keys for proofs the deployment has. To rotate the key, the operator raises the number by one and
 * deploys: the new key signs, and the old keys stay published.
 */
export function proofKeyCount({ NOVA_PROOF_KEYS: text = "1" }: NodeJS.ProcessEnv): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= maxProofKeys) return count;
  throw new Error(`NOVA_PROOF_KEYS is "${text}" - set it to the number of keys, from 1 to ${maxProofKeys}`);
}

/** The domains of incoming mail, and the sender of outgoing mail. */
export interface MailSettings {
  domains: string[];
  /** The sender of mails about failures; absent: NOVA sends no mail. */
  from?: string;
}

/**
 * Returns the settings of mail. If no domain is set, NOVA receives no mail. If no sender is set, NOVA sends mail from
 * an address of the first domain.
 */
export function mailSettingsFrom({ NOVA_MAIL_DOMAINS, NOVA_MAIL_FROM }: NodeJS.ProcessEnv): MailSettings {
  const domains = splitList(NOVA_MAIL_DOMAINS).map((domain) => domain.toLowerCase());
  const from = NOVA_MAIL_FROM || (domains[0] && `nova@${domains[0]}`);
  return { domains, ...(from && { from }) };
}

/** Returns the SES identities that may send mail: the sender, its domain, and the domains of incoming mail. */
export function sendersFrom(env: NodeJS.ProcessEnv): string[] {
  const { domains, from } = mailSettingsFrom(env);
  return from === undefined ? [] : [...new Set([from, from.replace(/^.*@/, ""), ...domains])];
}

/** Splits a comma-separated list. */
export function splitList(text = ""): string[] {
  return text.split(",").flatMap((part) => part.trim() || []);
}

/**
 * Returns the origin of the page, for CORS of the bucket. If the page has no custom name, all names of CloudFront are
 * allowed, because the generated name is unknown in advance.
 */
export function consoleOrigin({ NOVA_CONSOLE_DOMAIN: name }: NodeJS.ProcessEnv): string {
  return `https://${name || "*.cloudfront.net"}`;
}

type Named = Pick<Grantable, "table" | "bucket" | "keys" | "machines" | "events" | "undelivered"> & {
  /** The log group for failures of state machines. */
  machineLogs: { logGroupArn: string };
};

/** Returns the environment of every function. functions/environment.ts reads it. */
export function environmentOf(stack: Stack, named: Named, variables: NodeJS.ProcessEnv): Record<string, string> {
  const { table, bucket, keys, machines, events, undelivered, machineLogs } = named;
  const { from } = mailSettingsFrom(variables);
  return {
    ...settingsFrom(variables),
    NOVA_TABLE: table.tableName,
    NOVA_BUCKET: bucket.bucketName,
    NOVA_SIGNING_KMS_KEY: keys.signing.keyId,
    NOVA_PROOF_KMS_KEYS: keys.proof.map(({ keyId }) => keyId).join(","),
    NOVA_VAULT_KMS_KEY: keys.vault.keyId,
    NOVA_EVENT_BUS: novaName,
    NOVA_QUEUES: "true",
    NOVA_STATES_ROLE_ARN: machines.role,
    NOVA_STATES_LOG_GROUP_ARN: machineLogs.logGroupArn,
    NOVA_FUNCTION_ARN: functionArn(stack, "{name}"),
    NOVA_SCHEDULE_GROUP: novaName,
    NOVA_SCHEDULE_ROLE_ARN: events.schedulesRole,
    NOVA_UNDELIVERED_ARN: undelivered.queueArn,
    ...(from !== undefined && { NOVA_MAIL_FROM: from }),
  };
}

export interface Stage {
  name: string;
  /**
   * True for the stage `production`. The data of this stage is protected against deletion, and stays after its stacks
   * are removed.
   */
  isProduction: boolean;
  /** Removal policy of resources with data or keys. */
  removal: RemovalPolicy;
  logRetention: RetentionDays;
}

export function stageOf({ stage }: { stage: string }): Stage {
  const isProduction = stage === "production";
  return {
    name: stage,
    isProduction,
    removal: isProduction ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    logRetention: isProduction ? RetentionDays.THREE_MONTHS : RetentionDays.ONE_WEEK,
  };
}
