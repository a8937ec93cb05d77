import type { Queue } from "aws-cdk-lib/aws-sqs";
import type { Storage } from "../storage.ts";
import type { EventArns } from "./events-and-schedules.ts";
import type { MachineArns } from "./machines.ts";
import type { SecretName } from "./parameters.ts";

/** All that a function may be allowed to reach. */
export interface Grantable extends Storage {
  machines: MachineArns;
  events: EventArns;
  undelivered: Queue;
  /** ARNs of what SES sends as. */
  senders: readonly string[];
  /** ARN of a key's parameter in Systems Manager. */
  parameter(name: SecretName): string;
}
