import type { PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { Grantable } from "./grantable.ts";
import { bucketGrants } from "./grants/bucket.ts";
import { eventGrants } from "./grants/events-and-schedules.ts";
import { keyGrants } from "./grants/keys.ts";
import { machineGrants } from "./grants/machines.ts";
import { tableGrants } from "./grants/table.ts";

/** What a function may be allowed to do, each by one statement on one thing of ours. */
export const grants = {
  ...tableGrants,
  ...bucketGrants,
  ...keyGrants,
  ...machineGrants,
  ...eventGrants,
} satisfies Record<string, (to: Grantable) => PolicyStatement>;

export type Grant = keyof typeof grants;
