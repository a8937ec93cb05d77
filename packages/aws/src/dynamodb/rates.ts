import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import type { RateStore } from "@nova/service";
import { reportOutageIf } from "../clients/outage.ts";
import { FORMAT } from "./fields.ts";
import type { TableConnection } from "./records.ts";

/** A counter expires this long after its window ends. */
const keptSeconds = 60;
/** Stands for every client; it is not a valid slug. */
const everyone = "*";

/**
 * Counts the requests of each API key per time window. Counters name the client, so that erasing a client finds them.
 */
export function createRateStore({ client, table }: TableConnection): RateStore {
  return {
    add: (by, { beginsAt, seconds }, count, limit) =>
      reportOutageIf("DynamoDB", () =>
        client.send(
          new UpdateCommand({
            TableName: table,
            Key: { pk: `R#${by.id}`, sk: `R#${new Date(beginsAt).toISOString()}` },
            UpdateExpression: "ADD #taken :count SET #format = :format, #expiresAt = :expiresAt, #client = :client",
            ConditionExpression: "attribute_not_exists(#taken) OR #taken <= :most",
            ExpressionAttributeNames: {
              "#taken": "taken",
              "#format": "format",
              "#expiresAt": "expiresAt",
              "#client": "client",
            },
            ExpressionAttributeValues: {
              ":count": count,
              ":most": limit - count,
              ":format": FORMAT,
              ":expiresAt": Math.floor(beginsAt / 1000) + seconds + keptSeconds,
              ":client": by.client ?? everyone,
            },
          }),
        ),
      ),
  };
}
