import type { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { allow } from "../allow.ts";
import type { Grantable } from "../grantable.ts";

/** What is sealed for a name, as no task token is. */
const ofCredentials = { "ForAnyValue:StringEquals": { "kms:EncryptionContextKeys": ["name"] } };

/** What keys may be used for: NOVA's own, of KMS, and those of others, which are parameters. */
export const keyGrants = {
  signing: ({ keys }) => allow("kms", ["GenerateMac"], [keys.signing.keyArn]),
  "checking signatures": ({ keys }) => allow("kms", ["VerifyMac"], [keys.signing.keyArn]),
  sealing: ({ keys }) => allow("kms", ["Encrypt"], [keys.vault.keyArn]),
  /** By the Encryption SDK, which seals longer texts than KMS takes: one data key for each. */
  "sealing credentials": ({ keys }) => allow("kms", ["GenerateDataKey"], [keys.vault.keyArn], ofCredentials),
  "opening credentials": ({ keys }) => allow("kms", ["Decrypt"], [keys.vault.keyArn], ofCredentials),
  unsealing: ({ keys }) => allow("kms", ["Decrypt"], [keys.vault.keyArn]),

  "E2B's key": ({ parameter }) => allow("ssm", ["GetParameters"], [parameter("E2B_API_KEY")]),
  "the models' key": ({ parameter }) => allow("ssm", ["GetParameters"], [parameter("OPENAI_API_KEY")]),
} satisfies Record<string, (to: Grantable) => PolicyStatement>;
