import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";

export interface EraserConnection {
  client: Pick<DynamoDBClient, "send">;
  table: string;
}
