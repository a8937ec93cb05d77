import { Key, KeySpec, KeyUsage } from "aws-cdk-lib/aws-kms";
import { Duration } from "aws-cdk-lib/core";
import type { Construct } from "constructs";
import type { Stage } from "../stage.ts";

export interface Keys {
  /** HMAC over the last link of a chain. */
  signing: Key;
  /** Encrypts task tokens and the data keys of credentials. */
  vault: Key;
}

export function createKeys(scope: Construct, { removal, isProduction }: Stage): Keys {
  const common = { removalPolicy: removal, ...(!isProduction && { pendingWindow: Duration.days(7) }) };
  const signing = new Key(scope, "SigningKey", {
    ...common,
    description: "NOVA: signs the last link of each chain of work",
    keySpec: KeySpec.HMAC_256,
    keyUsage: KeyUsage.GENERATE_VERIFY_MAC,
  });
  const vault = new Key(scope, "VaultKey", {
    ...common,
    description: "NOVA: seals the task tokens of approvals, and credentials",
    enableKeyRotation: true,
  });
  return { signing, vault };
}
