export type { DynamoDbRequest } from "./requests.ts";
export { type DynamoDbOptions, type DynamoDbServer, openDynamoDb } from "./server.ts";
