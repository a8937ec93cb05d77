import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import type { RateStore } from "@nova/service";
import { reachingIf } from "../clients/outage.ts";
import { FORMAT } from "./fields.ts";
import type { TableConnection } from "./records.ts";

/** For how long a count is kept behind its window; then the table's time to live takes it. */
const keptSeconds = 60;
/** No slug looks so. */
const everyone = "*";

/** Requests of keys, a counter for each of their windows; the client's name is there for whoever erases it. */
export function createRateStore({ client, table }: TableConnection): RateStore {
  return {
    add: (by, { beginsAt, seconds }, count, limit) =>
      reachingIf("DynamoDB", () =>
        client.send(
          new UpdateCommand({
            TableName: table,
            Key: { pk: `R#${by.id}`, sk: `R#${new Date(beginsAt).toISOString()}` },
            UpdateExpression: "ADD #taken :count SET #format = :format, #expiresAt = :expiresAt, #client = :client",
            ConditionExpression: "attribute_not_exists(#taken) OR #taken <= :most",
            ExpressionAttributeNames: {
              ...{ "#taken": "taken", "#format": "format", "#expiresAt": "expiresAt", "#client": "client" },
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
