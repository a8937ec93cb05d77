import { functionArn, novaName } from "../access/arns.ts";
import type { Grantable } from "../access/grants.ts";
import type { Stack } from "../sst.ts";
import { mailSettingsFrom, settingsFrom } from "./settings.ts";

type Named = Pick<Grantable, "table" | "bucket" | "keys" | "machines" | "events" | "undelivered"> & {
  /** The log group for failures of state machines. */
  machineLogs: { logGroupArn: string };
};

/** Returns the environment of every function. functions/environment.ts reads it. */
export function environmentOf(stack: Stack, named: Named, variables: NodeJS.ProcessEnv): Record<string, string> {
  const { table, bucket, keys, machines, events, undelivered, machineLogs } = named;
  const { from } = mailSettingsFrom(variables);
  return {
    ...settingsFrom(variables),
    NOVA_TABLE: table.tableName,
    NOVA_BUCKET: bucket.bucketName,
    NOVA_SIGNING_KMS_KEY: keys.signing.keyId,
    NOVA_VAULT_KMS_KEY: keys.vault.keyId,
    NOVA_EVENT_BUS: novaName,
    NOVA_QUEUES: "true",
    NOVA_STATES_ROLE_ARN: machines.role,
    NOVA_STATES_LOG_GROUP_ARN: machineLogs.logGroupArn,
    NOVA_FUNCTION_ARN: functionArn(stack, "{name}"),
    NOVA_SCHEDULE_GROUP: novaName,
    NOVA_SCHEDULE_ROLE_ARN: events.schedulesRole,
    NOVA_UNDELIVERED_ARN: undelivered.queueArn,
    ...(from !== undefined && { NOVA_MAIL_FROM: from }),
  };
}
