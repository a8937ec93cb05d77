import type { Stack } from "sst/constructs";
import { functionArn, ownName } from "../access/arns.ts";
import type { Grantable } from "../access/grants.ts";
import { mailSettingsFrom, settingsFrom } from "./settings.ts";

type Named = Pick<Grantable, "table" | "bucket" | "keys" | "machines" | "events" | "undelivered"> & {
  /** Where state machines log what fails. */
  machineLogs: { logGroupArn: string };
};

/** What every function is told; functions/environment.ts reads it. */
export function environmentOf(stack: Stack, named: Named, variables: NodeJS.ProcessEnv): Record<string, string> {
  const { table, bucket, keys, machines, events, undelivered, machineLogs } = named;
  const { from } = mailSettingsFrom(variables);
  return {
    ...settingsFrom(variables),
    NOVA_TABLE: table.tableName,
    NOVA_BUCKET: bucket.bucketName,
    NOVA_SIGNING_KMS_KEY: keys.signing.keyId,
    NOVA_VAULT_KMS_KEY: keys.vault.keyId,
    NOVA_EVENT_BUS: ownName,
    NOVA_QUEUES: "true",
    NOVA_STATES_ROLE_ARN: machines.role,
    NOVA_STATES_LOG_GROUP_ARN: machineLogs.logGroupArn,
    NOVA_FUNCTION_ARN: functionArn(stack, "{name}"),
    NOVA_SCHEDULE_GROUP: ownName,
    NOVA_SCHEDULE_ROLE_ARN: events.schedulesRole,
    NOVA_UNDELIVERED_ARN: undelivered.queueArn,
    ...(from !== undefined && { NOVA_MAIL_FROM: from }),
  };
}
