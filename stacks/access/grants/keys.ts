import type { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { allow } from "../allow.ts";
import type { Grantable } from "../grantable.ts";

/** What is sealed for a name, as no task token is. */
const ofCredentials = sealedFor("name");

/** What is sealed for a task, as no credential is: KMS opens nothing else for whoever only answers tasks. */
const ofTasks = sealedFor("task");

/** The encryption context names such a key; a text opens with the context that it was sealed with, and with no other. */
function sealedFor(key: string) {
  return { "ForAnyValue:StringEquals": { "kms:EncryptionContextKeys": [key] } };
}

/** What keys may be used for: NOVA's own, of KMS, and those of others, which are parameters. */
export const keyGrants = {
  signing: ({ keys }) => allow("kms", ["GenerateMac"], [keys.signing.keyArn]),
  "checking signatures": ({ keys }) => allow("kms", ["VerifyMac"], [keys.signing.keyArn]),
  sealing: ({ keys }) => allow("kms", ["Encrypt"], [keys.vault.keyArn], ofTasks),
  /** By the Encryption SDK, which seals longer texts than KMS takes: one data key for each. */
  "sealing credentials": ({ keys }) => allow("kms", ["GenerateDataKey"], [keys.vault.keyArn], ofCredentials),
  "opening credentials": ({ keys }) => allow("kms", ["Decrypt"], [keys.vault.keyArn], ofCredentials),
  unsealing: ({ keys }) => allow("kms", ["Decrypt"], [keys.vault.keyArn], ofTasks),

  "E2B's key": ({ parameter }) => allow("ssm", ["GetParameters"], [parameter("E2B_API_KEY")]),
  "the models' key": ({ parameter }) => allow("ssm", ["GetParameters"], [parameter("OPENAI_API_KEY")]),
} satisfies Record<string, (to: Grantable) => PolicyStatement>;
