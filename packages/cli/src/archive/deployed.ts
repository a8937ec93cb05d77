import type { Signer } from "@nova/engine";
import type { ServicePorts } from "@nova/service";
import { InvalidInput } from "../errors.ts";

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

/** Turns AWS errors that this shell's variables cause into sentences that name the variable. */
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
