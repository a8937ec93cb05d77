import type { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { allow } from "../allow.ts";
import type { Grantable } from "../grantable.ts";
import * as partitions from "../partitions.ts";

/** What may be done in the table: by partition, by index, and as a whole. */
export const tableGrants = {
  "chain of work": ({ table }) => items(table, ["Query", "BatchGetItem", "PutItem"], partitions.chains),
  executions: ({ table }) => items(table, ["GetItem"], partitions.executions),
  "changed executions": ({ table }) => items(table, ["UpdateItem"], partitions.executions),
  "new executions": ({ table }) => items(table, ["PutItem"], partitions.executions),
  tasks: ({ table }) => items(table, ["GetItem", "Query", "UpdateItem"], partitions.tasks),
  "new tasks": ({ table }) => items(table, ["PutItem"], partitions.tasks),

  /** A task that is over is found no more. */
  wakes: ({ table }) => items(table, ["Query", "PutItem", "DeleteItem"], partitions.wakes),
  /** Also before a run starts: from then on events are kept that it may look for. */
  "shapes of events": ({ table }) => items(table, ["Query", "PutItem"], partitions.shapes),

  /** With what is active of a workflow, and what waits to be published. */
  versions: ({ table }) => items(table, ["GetItem", "Query"], partitions.workflows),
  "new versions": ({ table }) => items(table, ["PutItem", "UpdateItem"], partitions.workflows),
  /** A publication that was lost on its way says when it was handed over again. */
  "lost publications": ({ table }) => items(table, ["UpdateItem"], partitions.workflows),
  generations: ({ table }) => items(table, ["PutItem", "UpdateItem"], partitions.generations),
  /** What pinned code has saved is what writing it has cost. */
  "written code": ({ table }) => items(table, ["Query"], partitions.generations),

  credentials: ({ table }) => items(table, ["Query"], partitions.credentials),
  /** A token that was got anew is stored before it is used. */
  "refreshed credentials": ({ table }) => items(table, ["GetItem", "PutItem"], partitions.credentials),
  "gone credentials": ({ table }) => items(table, ["DeleteItem"], partitions.credentials),
  clients: ({ table }) => items(table, ["GetItem"], partitions.clients),
  "new clients": ({ table }) => items(table, ["PutItem"], partitions.clients),
  "changed clients": ({ table }) => items(table, ["UpdateItem"], partitions.clients),
  keys: ({ table }) => items(table, ["GetItem"], partitions.keys),
  "new keys": ({ table }) => items(table, ["PutItem"], partitions.keys),
  "gone keys": ({ table }) => items(table, ["DeleteItem"], partitions.keys),
  "request rates": ({ table }) => items(table, ["UpdateItem"], partitions.rates),
  "repeated requests": ({ table }) => items(table, ["GetItem", "PutItem", "UpdateItem"], partitions.attempts),
  "audit log": ({ table }) => items(table, ["PutItem"], partitions.audit),
  "list of the audit log": ({ table }) => items(table, ["Query"], partitions.audit),

  figures: ({ table }) => items(table, ["PutItem"], partitions.figures),
  "figures of workflows": ({ table }) => items(table, ["Query"], partitions.figures),
  queues: ({ table }) => items(table, ["GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem"], partitions.queues),
  spendings: ({ table }) => items(table, ["Query"], partitions.spendings),
  "new spendings": ({ table }) => items(table, ["PutItem"], partitions.spendings),
  uploads: ({ table }) => items(table, ["GetItem"], partitions.uploads),
  "new uploads": ({ table }) => items(table, ["PutItem"], partitions.uploads),
  triggers: ({ table }) => items(table, ["GetItem"], partitions.triggers),
  "new triggers": ({ table }) => items(table, ["PutItem", "DeleteItem"], partitions.triggers),
  /** A mailbox that cannot be read is left alone for a while. */
  "paused triggers": ({ table }) => items(table, ["UpdateItem"], partitions.triggers),
  deliveries: ({ table }) => items(table, ["GetItem", "PutItem", "UpdateItem"], partitions.deliveries),

  "open list": ({ table }) => indexes(table, "open"),
  "workflow lists": ({ table }) => indexes(table, "by-workflow"),
  /** Of keys, clients and pools, which lie in one index with what belongs to clients. */
  "client lists": ({ table }) => indexes(table, "by-client"),
  /**
   * Nothing less finds all that is a client's, which is erased by one function and exported by the API, or which
   * formats are stored, which the API says to administrators.
   */
  "whole table": ({ table }) => allow("dynamodb", ["Scan"], [table.tableArn]),

  "contents of chains": ({ table }) => items(table, ["UpdateItem"], partitions.chains),
  "erased records": ({ table }) => items(table, ["DeleteItem"], partitions.erasable),
} satisfies Record<string, (to: Grantable) => PolicyStatement>;

type Table = Grantable["table"];

/** `ForAllValues` holds for a call without any key, but none of these actions can be called without one. */
function items(table: Table, actions: readonly string[], keys: readonly string[]): PolicyStatement {
  return allow("dynamodb", actions, [table.tableArn], {
    "ForAllValues:StringLike": { "dynamodb:LeadingKeys": keys },
  });
}

function indexes(table: Table, name: string): PolicyStatement {
  return allow("dynamodb", ["Query"], [`${table.tableArn}/index/${name}`]);
}
