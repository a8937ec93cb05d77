import { describe, expect, it } from "vitest";
import type { Deployment } from "../lambda/deployment.ts";
import { checkRoles } from "./check.ts";
import type { AwsRequest } from "./requests.ts";

const arn = "arn:aws:dynamodb:us-east-1:123456789012:table/t";
const eraser = "arn:aws:iam::123456789012:role/eraser";
const other = "arn:aws:iam::123456789012:role/other";
const update = { Effect: "Allow" as const, Action: "dynamodb:UpdateItem", Resource: arn };
const isEntry = { "ForAnyValue:StringLike": { "dynamodb:LeadingKeys": "C#*" } };

const deployment: Deployment = {
  functions: [
    { name: "nova-erase", role: eraser, environment: {}, file: "", handler: "", timeoutSeconds: 1 },
    { name: "nova-api", role: other, environment: {}, file: "", handler: "", timeoutSeconds: 1 },
  ],
  roles: { [eraser]: [update], [other]: [update] },
  ofTable: [
    {
      Effect: "Deny",
      Action: "dynamodb:UpdateItem",
      Resource: "*",
      Condition: { ...isEntry, ArnNotEquals: { "aws:PrincipalArn": eraser } },
    },
  ],
};

function updates(who: string, partition: string): AwsRequest {
  const body = JSON.stringify({ TableName: "t", Key: { pk: { S: partition } } });
  return { who, service: "dynamodb", target: "DynamoDB.UpdateItem", method: "POST", path: "/", source: "", body };
}

describe("the test's check of AWS roles", () => {
  it("finds no problem if the role of each caller allows the caller's requests", () => {
    const checked = checkRoles([updates("nova-erase", "C#1"), updates("nova-api", "E#1")], deployment);
    expect(checked).toMatchObject({ count: 2, refused: new Map() });
  });

  it("reports a request that the policy of the table denies, and how often a caller sent this request", () => {
    const { refused } = checkRoles([updates("nova-api", "C#1"), updates("nova-api", "C#1")], deployment);
    const line = `nova-api: dynamodb:UpdateItem on ${arn} where dynamodb:LeadingKeys C#1`;
    expect(refused).toEqual(new Map([[line, 2]]));
  });

  it("reports an unknown request", () => {
    const { refused } = checkRoles([{ ...updates("nova-api", "E#1"), service: "glue" }], deployment);
    expect([...refused.keys()]).toEqual([expect.stringMatching(/^nova-api: UnknownRequest/)]);
  });

  it("ignores requests of callers without a role, such as rules that invoke functions", () => {
    expect(checkRoles([updates("events", "C#1")], deployment).count).toBe(0);
  });
});
