import { hkdfSync } from "node:crypto";
import { join } from "node:path";
import { region } from "@nova/aws-local";
import type { Keys } from "./keys.ts";
import type { Endpoints } from "./owner-file.ts";
import { docstringsFolder } from "./templates.ts";

export const table = "nova";
export const bucket = "nova";

/** The variables by which the official SDKs, and NOVA itself, find the local cloud. */
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
    // boto3 and the AWS CLI know this one alone.
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
    NOVA_CREDENTIALS_KEY_FILE: join(dataDir, "credential-keys.json"),
    NOVA_DOCSTRINGS: docstringsFolder(dataDir),
  };
}

/** A key for another purpose that tells nothing of the first: the key file stays as it is. */
function derivedKey(keyHex: string, purpose: string): string {
  return Buffer.from(hkdfSync("sha256", Buffer.from(keyHex, "hex"), "", purpose, 32)).toString("hex");
}

/** What a shell may hold of a real account, and what the SDKs would prefer to the variables above. */
const contrary = ["AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "AWS_ENDPOINT_URL"];

/** Points every SDK in this process at the local cloud; must happen before one is loaded. */
export function enterEnvironment(environment: Record<string, string>): void {
  for (const name of contrary) delete process.env[name];
  Object.assign(process.env, environment);
  // What is deployed asks no model unless it is told to; on a laptop a node's code is written in the first run.
  process.env.NOVA_FROZEN ??= "false";
  process.env.NOVA_API_URL ??= apiUrl;
  // The local SES takes mail from any address.
  process.env.NOVA_MAIL_FROM ||= "nova@localhost";
}

/** Where the API of this process is; before there is one, where `nova dev` has it unless it is told another port. */
let apiUrl = "http://127.0.0.1:3000";

/** Resume links name it, unless somebody has said by which address others reach it. */
export function announceApi(url: string): void {
  if (process.env.NOVA_API_URL === apiUrl) process.env.NOVA_API_URL = url;
  apiUrl = url;
}
