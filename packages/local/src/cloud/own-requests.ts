import { offerTransport } from "@nova/aws";
import type { DynamoDbServer } from "../dynamodb/index.ts";
import type { AnsweredRequest } from "./request-tap.ts";

/**
 * Answers what this process asks of its own DynamoDB without a socket between them; `onAnswered` is told, as of requests
 * of others. Returns how to stop.
 */
export function serveOwnRequests(
  dynamodb: Pick<DynamoDbServer, "url" | "answer">,
  onAnswered: (answered: AnsweredRequest) => void,
): () => void {
  const port = Number(new URL(dynamodb.url).port);
  return offerTransport(dynamodb.url, ({ method, headers, body }) => {
    const answer = dynamodb.answer({ headers, body: Buffer.from(body) });
    onAnswered({ port, request: { method, url: "/", headers }, status: answer.status, json: body });
    return answer;
  });
}
