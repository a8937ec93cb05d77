import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import type { RateStore } from "@nova/service";
import { reachingIf } from "../../clients/outage.ts";
import type { TableConnection } from "../connection.ts";
import { FORMAT } from "../format.ts";

/** For how long a count is kept behind its window; then the table's time to live takes it. */
const keptSeconds = 60;

/** Requests of keys, a counter for each of their windows. */
export function createRateStore({ client, table }: TableConnection): RateStore {
  return {
    add: (principal, { beginsAt, seconds }, count, limit) =>
      reachingIf("DynamoDB", () =>
        client.send(
          new UpdateCommand({
            TableName: table,
            Key: { pk: `R#${principal}`, sk: `R#${new Date(beginsAt).toISOString()}` },
            UpdateExpression: "ADD #taken :count SET #format = :format, #expiresAt = :expiresAt",
            ConditionExpression: "attribute_not_exists(#taken) OR #taken <= :most",
            ExpressionAttributeNames: { "#taken": "taken", "#format": "format", "#expiresAt": "expiresAt" },
            ExpressionAttributeValues: {
              ":count": count,
              ":most": limit - count,
              ":format": FORMAT,
              ":expiresAt": Math.floor(beginsAt / 1000) + seconds + keptSeconds,
            },
          }),
        ),
      ),
  };
}
