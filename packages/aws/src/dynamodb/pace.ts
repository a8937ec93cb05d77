import { UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { reachingIf } from "../clients/outage.ts";
import { FORMAT } from "./fields.ts";
import type { TableConnection } from "./records.ts";

/** Nobody's turn is further ahead: who finds something better to do while it waits leaves no long gap behind. */
const soonMs = 1_000;
/** Requests of different processes overtake each other on their way: a plan counts when they arrive. */
const margin = 1.05;

/**
 * Sandboxes are made one after another, whoever makes them, as fast as a plan of E2B lets them be. The answer resolves to
 * true when it is the caller's turn, and to false after a moment in which the next turns were all of others.
 */
export function createPace(
  { client, table: TableName }: TableConnection,
  perSecond: number,
  { now, sleep }: { now(): number; sleep(ms: number): Promise<unknown> },
): () => Promise<boolean> {
  const stepMs = Math.ceil((margin * 1000) / perSecond);
  const aheadMs = Math.max(soonMs, stepMs);
  /** The time until which the caller keeps others waiting; undefined where `condition` does not hold. */
  const reserve = async (change: string, condition: string, times: Record<string, number>) => {
    let until: number | undefined;
    const update = new UpdateCommand({
      ...{ TableName, Key: { pk: "Q#S", sk: "PACE" }, ReturnValues: "UPDATED_NEW" },
      UpdateExpression: `SET #format = :format${change}`,
      ConditionExpression: condition,
      ExpressionAttributeNames: { "#free": "free", "#format": "format" },
      ExpressionAttributeValues: { ...times, ":format": FORMAT },
    });
    await reachingIf("DynamoDB", async () => {
      until = Number((await client.send(update)).Attributes?.free);
    });
    return until;
  };
  return async () => {
    const from = now();
    const atOnce = { ":from": from, ":next": from + stepMs };
    const soon = { ":from": from, ":to": from + aheadMs, ":step": stepMs };
    const until =
      (await reserve(", #free = :next", "attribute_not_exists(#free) OR #free < :from", atOnce)) ??
      (await reserve(" ADD #free :step", "#free BETWEEN :from AND :to", soon));
    const waitMs = until === undefined ? soonMs : until - stepMs - from;
    if (waitMs > 0) await sleep(waitMs);
    return until !== undefined;
  };
}
