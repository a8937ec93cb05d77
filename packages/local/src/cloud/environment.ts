import { hkdfSync } from "node:crypto";
import { join } from "node:path";
import { region } from "@nova/aws-local";
import { type Keys, proofKeysFile } from "./keys.ts";
import type { Endpoints } from "./owner-file.ts";
import { docstringsFolder } from "./templates.ts";

export const table = "nova";
export const bucket = "nova";

/** Returns the variables with which the official SDKs and NOVA itself find the local cloud. */
export function environmentOf(dataDir: string, endpoints: Endpoints, keys: Keys): Record<string, string> {
  return {
    AWS_ENDPOINT_URL_DYNAMODB: endpoints.dynamodb,
    AWS_ENDPOINT_URL_S3: endpoints.s3,
    AWS_ENDPOINT_URL_SFN: endpoints.states,
    AWS_ENDPOINT_URL_EVENTBRIDGE: endpoints.eventbridge,
    AWS_ENDPOINT_URL_SCHEDULER: endpoints.scheduler,
    AWS_ENDPOINT_URL_SESV2: endpoints.sesv2,
    AWS_ACCESS_KEY_ID: keys.accessKeyId,
    AWS_SECRET_ACCESS_KEY: keys.secretAccessKey,
    AWS_REGION: region,
    // boto3 and the AWS CLI read only this variable.
    AWS_DEFAULT_REGION: region,
    E2B_API_URL: endpoints.e2bApi,
    E2B_SANDBOX_URL: endpoints.e2bSandbox,
    E2B_API_KEY: keys.e2bApiKey,
    NOVA_TABLE: table,
    NOVA_BUCKET: bucket,
    NOVA_S3_PATH_STYLE: "true",
    NOVA_PRIVATE_HOSTS: "true",
    NOVA_SIGNING_KEY: keys.signingKey,
    NOVA_VAULT_KEY: derivedKey(keys.signingKey, "nova vault"),
    NOVA_PROOF_KEY_FILE: join(dataDir, proofKeysFile),
    NOVA_CREDENTIALS_KEY_FILE: join(dataDir, "credential-keys.json"),
    NOVA_DOCSTRINGS: docstringsFolder(dataDir),
  };
}

/**
 * Derives a key for another purpose, so that the key file needs no second key. The derived key reveals nothing about
 * the first.
 */
function derivedKey(keyHex: string, purpose: string): string {
  return Buffer.from(hkdfSync("sha256", Buffer.from(keyHex, "hex"), "", purpose, 32)).toString("hex");
}

/**
 * Variables that name a real account in the user's shell. `enterEnvironment` removes them, because the SDKs would
 * prefer them to the variables of the local cloud.
 */
const contrary = ["AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "AWS_ENDPOINT_URL"];

/** Points every SDK in this process at the local cloud. Call it before the first SDK is loaded. */
export function enterEnvironment(environment: Record<string, string>): void {
  for (const name of contrary) delete process.env[name];
  Object.assign(process.env, environment);
  // On a laptop, the first run may write a node's code. A deployment calls no model unless its operator allows it.
  process.env.NOVA_FROZEN ??= "false";
  process.env.NOVA_API_URL ??= apiUrl;
  // Any address works here, because the local SES accepts every sender.
  process.env.NOVA_MAIL_FROM ||= "nova@localhost";
}

/** The address of this process's API. Before the API opens, it is the default address of `nova dev`. */
let apiUrl = "http://127.0.0.1:3000";

/**
 * Sets the addresses with which links start: `url` for links that resume a run, and `tasks` for links to tasks. Does
 * not change a `NOVA_API_URL` or `NOVA_LINK_BASE` that the user has set.
 */
export function announceApi(url: string, tasks: string | undefined): void {
  if (process.env.NOVA_API_URL === apiUrl) process.env.NOVA_API_URL = url;
  apiUrl = url;
  if (!process.env.NOVA_LINK_BASE || process.env.NOVA_LINK_BASE === tasksUrl) setLinkBase(tasks);
  tasksUrl = tasks;
}

/** The address of tasks on the page of this process; undefined if the process has no page. */
let tasksUrl: string | undefined;

function setLinkBase(tasks: string | undefined): void {
  if (tasks === undefined) delete process.env.NOVA_LINK_BASE;
  else process.env.NOVA_LINK_BASE = tasks;
}
