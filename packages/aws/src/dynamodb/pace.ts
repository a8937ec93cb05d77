import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { reportOutageIf } from "../clients/outage.ts";
import { FORMAT } from "./fields.ts";
import type { TableConnection } from "./records.ts";

/**
 * A caller reserves a time at most this far ahead. If it then does not create a sandbox, the unused gap stays short.
 */
const maxAheadMs = 1_000;
/** Keeps below E2B's rate, because requests of several processes can arrive closer together than they were sent. */
const margin = 1.05;

/**
 * Spaces out sandbox creations of all processes to the rate that the E2B plan allows. The returned function resolves to
 * true when the caller may create a sandbox, and to false after a pause if all times within `maxAheadMs` are reserved.
 */
export function createPace(
  { client, table: TableName }: TableConnection,
  perSecond: number,
  { now, sleep }: { now(): number; sleep(ms: number): Promise<unknown> },
): () => Promise<boolean> {
  const stepMs = Math.ceil((margin * 1000) / perSecond);
  const aheadMs = Math.max(maxAheadMs, stepMs);
  /** Returns the time until which other callers wait; undefined if `condition` does not hold. */
  const reserve = async (change: string, condition: string, times: Record<string, number>) => {
    let until: number | undefined;
    const update = new UpdateCommand({
      TableName,
      Key: { pk: "Q#S", sk: "PACE" },
      ReturnValues: "UPDATED_NEW",
      UpdateExpression: `SET #format = :format${change}`,
      ConditionExpression: condition,
      ExpressionAttributeNames: { "#free": "free", "#format": "format" },
      ExpressionAttributeValues: { ...times, ":format": FORMAT },
    });
    await reportOutageIf("DynamoDB", async () => {
      until = Number((await client.send(update)).Attributes?.free);
    });
    return until;
  };
  return async () => {
    const from = now();
    const immediately = { ":from": from, ":next": from + stepMs };
    const later = { ":from": from, ":to": from + aheadMs, ":step": stepMs };
    const until =
      (await reserve(", #free = :next", "attribute_not_exists(#free) OR #free < :from", immediately)) ??
      (await reserve(" ADD #free :step", "#free BETWEEN :from AND :to", later));
    const waitMs = until === undefined ? maxAheadMs : until - stepMs - from;
    if (waitMs > 0) await sleep(waitMs);
    return until !== undefined;
  };
}
