import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";

/** The table and the client that every store of this folder shares. */
export interface TableConnection {
  client: DynamoDBDocumentClient;
  table: string;
}
