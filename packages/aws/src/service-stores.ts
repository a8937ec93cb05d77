import type { ServiceStores } from "@nova/service";
import { createArchive } from "./archive.ts";
import { dynamoDbClient, s3Client, sfnClient } from "./clients/clients.ts";
import { createCredentialCipher, credentialKeysFrom } from "./crypto/credential-cipher.ts";
import { createAttemptStore, createAuditLog, createKeyStore, createRateStore } from "./dynamodb/api-access.ts";
import { createCredentialStore } from "./dynamodb/credentials.ts";
import type { TableConnection } from "./dynamodb/records.ts";
import { createDailyCheckStore, createRootStore } from "./dynamodb/roots.ts";
import { createRunHookStores } from "./dynamodb/run-hook-stores.ts";
import { createSessionStore } from "./dynamodb/sessions.ts";
import { createDeliveryStore, createTriggerStore } from "./dynamodb/triggers.ts";
import { createUploadStore } from "./dynamodb/uploads.ts";
import { createPublicationStore } from "./dynamodb/workflows.ts";
import { createEraser } from "./eraser.ts";
import { createFormatSurvey } from "./formats.ts";
import { createBlobLinks } from "./s3/blob-store.ts";
import { type BucketConnection, readObject } from "./s3/objects.ts";
import { createProofFiles } from "./s3/proof-files.ts";
import { createMachineVersions } from "./states/state-machines.ts";

type Connections = Partial<TableConnection> & { bucket?: BucketConnection };

/**
 * Creates the stores of the service in NOVA's table and bucket. It creates AWS clients that the caller does not pass,
 * and all stores share the clients.
 */
export function createServiceStores({
  table,
  client = dynamoDbClient(),
  bucket = bucketFromEnvironment(),
}: Connections): ServiceStores {
  const connection = { client, table: table ?? process.env.NOVA_TABLE ?? "nova" };
  return {
    rootStore: createRootStore(connection, bucket),
    dailyChecks: createDailyCheckStore(connection),
    keys: createKeyStore(connection),
    audit: createAuditLog(connection),
    ...createRunHookStores(connection),
    attempts: createAttemptStore(connection),
    rateStore: createRateStore(connection),
    triggers: createTriggerStore(connection),
    deliveries: createDeliveryStore(connection),
    /** SES stores incoming mails under `mail/` in the bucket. */
    incomingMail: { open: (key) => readObject(bucket, key) },
    publications: createPublicationStore(connection, bucket),
    machineVersions: createMachineVersions(sfnClient),
    credentialStore: createCredentialStore(connection),
    credentialCipher: createCredentialCipher(credentialKeysFrom(process.env)),
    uploads: createUploadStore(connection, bucket),
    sessions: createSessionStore(connection, bucket),
    eraser: createEraser(connection, bucket),
    archive: createArchive(connection, bucket),
    formats: createFormatSurvey(connection),
    blobLinks: createBlobLinks(bucket),
    proofFiles: createProofFiles(bucket),
  };
}

function bucketFromEnvironment(): BucketConnection {
  return { client: s3Client(process.env.NOVA_S3_PATH_STYLE === "true"), bucket: process.env.NOVA_BUCKET ?? "" };
}
