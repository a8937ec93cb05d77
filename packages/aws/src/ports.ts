import { setTimeout as sleep } from "node:timers/promises";
import { createCredentials, type OutgoingFetch } from "@nova/engine";
import { dynamoDbClient, kmsClient, s3Client, sfnClient } from "./clients/clients.ts";
import { createCredentialCipher, credentialKeysFrom } from "./crypto/credential-cipher.ts";
import { createFileKeyPair, createKmsKeyPair, type FileKeyPairOptions } from "./crypto/key-pairs.ts";
import { createKeySigner, createKeyVault, createKmsSigner, createKmsVault } from "./crypto/vaults.ts";
import { createChainStore } from "./dynamodb/chain/chain-store.ts";
import { createCredentialStore } from "./dynamodb/credentials.ts";
import { createExecutionStore } from "./dynamodb/executions.ts";
import { createGenerationStore } from "./dynamodb/generations.ts";
import { createRoots } from "./dynamodb/roots.ts";
import { createPace } from "./dynamodb/slots.ts";
import { createResumeLinkStore, createTaskStore, createWakeStore, WakePlaces } from "./dynamodb/tasks.ts";
import { createWorkflowStore } from "./dynamodb/workflows.ts";
import { createBus, type NovaBus } from "./events/bus.ts";
import { createBlobStore } from "./s3/blob-store.ts";
import { createStateMachines } from "./states/state-machines.ts";

export type { NovaBus };

export interface AwsPortsOptions {
  /** DynamoDB table. Default: the table in `NOVA_TABLE`, or `nova` without that variable. */
  table?: string;
  bucket: string;
  roleArn: string;
  /** Log group for failures of state machines. If it is absent, state machines write no logs and send no traces. */
  statesLogGroupArn?: string | undefined;
  /** Key of HMACs that only NOVA checks: a KMS HMAC key, or 32 bytes in hex. */
  signer: { kmsKeyId: string } | { keyHex: string };
  /** Key pair that signs close entries: KMS keys, the newest last, or a secret and a file of later keys. */
  keyPair: { kmsKeyIds: readonly string[] } | FileKeyPairOptions;
  /** Key that encrypts task tokens: a KMS key, or 32 bytes in hex. */
  vault: { kmsKeyId: string } | { keyHex: string };
  /** Variables that name the keys of credentials; default: `process.env`. */
  keyVariables?: NodeJS.ProcessEnv;
  eventBus: string;
  /** Sandboxes per second that the E2B plan allows; no limit if absent. */
  createsPerSecond?: number | undefined;
  /** Sends the HTTP requests to token endpoints of credentials. */
  fetch: OutgoingFetch;
  /** True for S3 endpoints without a host name per bucket. */
  s3PathStyle?: boolean;
}

const clock = { now: () => Date.now(), sleep };

export type AwsPorts = ReturnType<typeof createAwsPorts>;

/**
 * Creates the engine's ports on AWS. The SDK reads region, credentials and endpoints from its own variables
 * (`AWS_REGION`, `AWS_ENDPOINT_URL_DYNAMODB` ...). The clients keep connections open, so create the ports once per
 * process.
 */
export function createAwsPorts(options: AwsPortsOptions) {
  const { signer, keyPair, vault } = options;
  const table = { client: dynamoDbClient(), table: options.table ?? process.env.NOVA_TABLE ?? "nova" };
  const bucket = { client: s3Client(options.s3PathStyle ?? false), bucket: options.bucket };
  const workflows = createWorkflowStore(table, bucket);
  const places = new WakePlaces(table);
  return {
    chain: createChainStore(table),
    executions: createExecutionStore(table, workflows),
    workflows,
    blobs: createBlobStore(bucket),
    stateMachines: createStateMachines({
      client: sfnClient(),
      roleArn: options.roleArn,
      logGroupArn: options.statesLogGroupArn,
    }),
    roots: createRoots(table, bucket),
    signer: "keyHex" in signer ? createKeySigner(signer.keyHex) : createKmsSigner(kmsClient(), signer.kmsKeyId),
    keyPair: "keyHex" in keyPair ? createFileKeyPair(keyPair) : createKmsKeyPair(kmsClient(), keyPair.kmsKeyIds),
    tasks: createTaskStore(table, places),
    resumeLinks: createResumeLinkStore(table),
    wakes: createWakeStore(table, bucket, places),
    vault: "keyHex" in vault ? createKeyVault(vault.keyHex) : createKmsVault(kmsClient(), vault.kmsKeyId),
    generations: createGenerationStore(table),
    credentials: createCredentials({
      store: createCredentialStore(table),
      cipher: createCredentialCipher(credentialKeysFrom(options.keyVariables ?? process.env)),
      ...clock,
      fetch: options.fetch,
    }),
    pace: options.createsPerSecond === undefined ? undefined : createPace(table, options.createsPerSecond, clock),
    bus: createBus({ busName: options.eventBus, bucket }),
    /**
     * Stores for the service's work after a run has ended, on the same connection. Their module is loaded when the
     * first run of the process ends.
     */
    runHookStores: async () => (await import("./dynamodb/run-hook-stores.ts")).createRunHookStores(table),
  };
}
