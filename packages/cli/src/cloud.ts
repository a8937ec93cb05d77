import type { Signer } from "@nova/engine";
import type { CloudOptions, LocalCloud } from "@nova/local";
import type { ServicePorts } from "@nova/service";
import { exitCodes, InvalidInput } from "./errors.ts";
import { Interrupt } from "./interrupt.ts";
import { printError, styled } from "./output/terminal.ts";

/** Opens the cloud in `.nova` or in `NOVA_DATA_DIR`. */
export async function openCloud(options: Partial<CloudOptions> = {}): Promise<LocalCloud> {
  const { openLocalCloud } = await import("@nova/local");
  const warn = (sentence: string) => printError(styled("yellow", `nova: ${sentence}`));
  return openLocalCloud({ dataDir: dataFolder(), warn, ...options });
}

/** A command prints this hint when its own work is done, but the runs of other terminals still need its process. */
export const othersRunsHint = "waiting for the runs of other terminals; Ctrl-C interrupts them";

/** Opens the cloud, calls `work`, and closes the cloud. `work` may start runs only if `drives` is true. */
export async function withCloud<T>(
  work: (cloud: LocalCloud) => Promise<T>,
  { drives }: { drives: boolean } = { drives: false },
): Promise<T> {
  const cloud = await openCloud({ drives });
  try {
    return await work(cloud);
  } finally {
    await cloud.close();
  }
}

/**
 * Calls `work`, which starts executions and returns their ids. If this process owns the cloud, the process then stays
 * until each execution has ended or waits for an answer.
 */
export async function withDrivingCloud(work: (cloud: LocalCloud) => Promise<string[]>): Promise<void> {
  const interrupt = new Interrupt();
  const cloud = await openCloud();
  const hint = "the run continues in this process; Ctrl-C leaves waiting runs and interrupts working ones";
  const timer = setTimeout(() => printError(hint), 2000);
  try {
    const executions = await work(cloud);
    // Only an owner has to stay: the runs of a guest continue in the owner's process.
    if (cloud.role === "owner") {
      const atRest = Promise.all(executions.map((id) => waitUntilIdle(cloud, id)));
      await Promise.race([atRest, interrupt.requested()]);
    }
  } finally {
    clearTimeout(timer);
    await closeCloud(cloud, interrupt, hint);
  }
}

/**
 * Resolves when the execution has ended, or when each of its open nodes waits. The function looks at all open nodes,
 * because a branch may have started to wait long before the other branches.
 */
async function waitUntilIdle(cloud: LocalCloud, execution: string): Promise<void> {
  const { readState } = await import("@nova/engine");
  const resting = Promise.withResolvers<void>();
  const isResting = async () => {
    if (!(await cloud.ports.tasks.hasOpen(execution))) return false;
    const { nodes } = (await readState(cloud.ports, execution)).atWork;
    return nodes.length > 0 && nodes.every(({ waits_for }) => waits_for !== null);
  };
  const look = () => isResting().then((rests) => rests && resting.resolve(), resting.reject);
  const ended = cloud.untilEnd(execution, look);
  await look();
  await Promise.race([ended, resting.promise]);
}

/**
 * Closes the cloud when no run is in progress. At the next Ctrl-C, interrupts the runs and closes the cloud. Prints
 * `hint` if the cloud has to wait for runs. Meanwhile the servers in `doors` accept no new requests, but still answer
 * the requests in progress.
 */
export async function closeCloud(
  cloud: LocalCloud,
  interrupt: Interrupt,
  hint: string,
  doors?: AsyncDisposableStack,
): Promise<void> {
  const answered = doors?.disposeAsync();
  const timer = setInterval(() => {
    if (!cloud.isNeeded()) return;
    clearInterval(timer);
    printError(hint);
  }, 500);
  await Promise.race([
    cloud.close({ answered }),
    interrupt.requestedAgain().then(() => {
      setTimeout(exitAtOnce, longestInterruptMs).unref();
      return cloud.close({ answered, interrupt: true });
    }),
  ]);
  clearInterval(timer);
}

/**
 * Milliseconds after which the process ends even if it has not interrupted all runs yet. To interrupt a thousand runs
 * would take longer.
 */
const longestInterruptMs = 15_000;

function exitAtOnce(): never {
  printError(
    `${longestInterruptMs / 1000} seconds did not suffice for all runs; the next start closes the others as interrupted`,
  );
  process.exit(exitCodes.interrupted);
}

/** Returns the data folder of this machine's cloud: `NOVA_DATA_DIR`, or `.nova` if the variable is empty or unset. */
export function dataFolder(): string {
  return process.env.NOVA_DATA_DIR || ".nova";
}

/** Opens the stores of a deployment with this shell's AWS credentials. NOVA_SIGNING_KMS_KEY names the signing key. */
export async function withDeployed<T>(
  work: (ports: Pick<ServicePorts, "archive" | "formats"> & { signer?: Signer }) => Promise<T>,
): Promise<T> {
  const { NOVA_TABLE: table, NOVA_BUCKET: bucket } = process.env;
  if (!table || !bucket)
    throw new InvalidInput("--aws needs NOVA_TABLE and NOVA_BUCKET - name the table and the bucket");
  const { createKmsSigner, createServiceStores, kmsClient } = await import("@nova/aws");
  const { NOVA_SIGNING_KMS_KEY: key } = process.env;
  const signer = key ? { signer: createKmsSigner(kmsClient(), key) } : {};
  return explainAwsErrors({ table, bucket }, () => work({ ...createServiceStores({ table }), ...signer }));
}

/**
 * Calls `work`, and explains AWS errors in one sentence. If an environment variable caused the error, the sentence
 * names the variable.
 */
export async function explainAwsErrors<T>(
  names: { table: string; bucket?: string },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const sentence = cause instanceof Error && sentenceFor(cause, names);
    throw sentence ? new InvalidInput(sentence, { cause }) : cause;
  }
}

const credentials =
  /^(CredentialsProviderError|TokenProviderError|UnrecognizedClientException|InvalidSignatureException|SignatureDoesNotMatch|InvalidAccessKeyId|(Expired|Invalid)Token(Exception)?)$/;

function sentenceFor({ name, message }: Error, { table, bucket }: { table: string; bucket?: string }) {
  const region = process.env.AWS_REGION || "the region of this shell's profile";
  const where = "name it as the deployment printed it";
  if (name === "ResourceNotFoundException")
    return `there is no table "${table}" in ${region} - ${where} in NOVA_TABLE, its region in AWS_REGION`;
  if (name === "NoSuchBucket") return `there is no bucket "${bucket}" - ${where} in NOVA_BUCKET`;
  if (name === "PermanentRedirect") return `the bucket "${bucket}" is not in ${region} - set AWS_REGION to its region`;
  if (message === "Region is missing") return "AWS_REGION is not set - set it to the region of the deployment";
  if (credentials.test(name))
    return `AWS rejects the credentials of this shell (${name}) - set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE`;
  if (/^AccessDenied(Exception)?$/.test(name))
    return `this shell's AWS credentials may not do this: ${message} - use credentials that may read and write "${table}" and "${bucket}"`;
  return undefined;
}
