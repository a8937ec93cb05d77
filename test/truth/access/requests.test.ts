import { describe, expect, it } from "vitest";
import { type AwsRequest, accessesOf, UnknownRequest } from "./requests.ts";

const arn = (service: string, resource: string) => `arn:aws:${service}:us-east-1:123456789012:${resource}`;

function asked(service: string, more: Partial<AwsRequest> & { json?: object }): string[] {
  const { json, ...given } = more;
  const body = json === undefined ? "" : JSON.stringify(json);
  const request = { who: "nova-api", service, target: "", method: "POST", path: "/", source: "", body, ...given };
  return accessesOf(request).map(({ action, resource, context }) => {
    const conditions = Object.entries(context).map(([key, values]) => ` ${key}=${values}`);
    return `${action} ${resource}${conditions.join("")}`;
  });
}

const dynamoDb = (operation: string, json: object) =>
  asked("dynamodb", { target: `DynamoDB_20120810.${operation}`, json: { TableName: "t", ...json } });
const table = arn("dynamodb", "table/t");

describe("a request to DynamoDB", () => {
  const pk = { S: "E#1" };
  it.each<[string, string, object, string]>([
    ["for a key", "GetItem", { Key: { pk } }, `${table} dynamodb:LeadingKeys=E#1`],
    ["with an item", "PutItem", { Item: { pk, n: { N: "1" } } }, `${table} dynamodb:LeadingKeys=E#1`],
    [
      "with the partition key as its second condition",
      "Query",
      {
        KeyConditionExpression: "begins_with(#sk, :sk) and #pk = :pk",
        ExpressionAttributeNames: { "#pk": "pk", "#sk": "sk" },
        ExpressionAttributeValues: { ":sk": { S: "x" }, ":pk": pk },
      },
      `${table} dynamodb:LeadingKeys=E#1`,
    ],
    ["of an index", "Query", { IndexName: "open", KeyConditionExpression: "o = :o" }, `${table}/index/open`],
    ["for a scan of the whole table", "Scan", {}, table],
  ])("%s needs access to the right table and partitions", (_, operation, json, expected) => {
    expect(dynamoDb(operation, json)).toEqual([`dynamodb:${operation} ${expected}`]);
  });

  it("for several items needs access to the partitions of all items", () => {
    const RequestItems = { t: { Keys: [{ pk }, { pk: { S: "C#2" } }] } };
    expect(dynamoDb("BatchGetItem", { RequestItems })).toEqual([
      `dynamodb:BatchGetItem ${table} dynamodb:LeadingKeys=E#1,C#2`,
    ]);
  });
});

describe("a request to S3", () => {
  it.each<[string, Partial<AwsRequest>, string[]]>([
    [
      "for an object needs access to the object",
      { method: "GET", path: "/b/blobs/a%20b?x-id=GetObject" },
      ["s3:GetObject arn:aws:s3:::b/blobs/a b"],
    ],
    [
      "for a list of objects needs access to the bucket",
      { method: "GET", path: "/b?list-type=2" },
      ["s3:ListBucket arn:aws:s3:::b"],
    ],
    [
      "for a copy needs access to both objects",
      { method: "PUT", path: "/b/to", source: "b/from" },
      ["s3:PutObject arn:aws:s3:::b/to", "s3:GetObject arn:aws:s3:::b/from"],
    ],
    [
      "that deletes several objects needs access to each object",
      { path: "/b?delete", body: "<Delete><Object><Key>a</Key></Object><Object><Key>b/c</Key></Object></Delete>" },
      ["s3:DeleteObject arn:aws:s3:::b/a", "s3:DeleteObject arn:aws:s3:::b/b/c"],
    ],
  ])("needs the permissions that AWS requires: a request %s", (_, request, expected) => {
    expect(asked("s3", request)).toEqual(expected);
  });
});

describe("a request to AWS", () => {
  it("that goes to KMS needs access to the key of the request with its encryption context", () => {
    const json = { KeyId: "k", EncryptionContext: { name: "email" } };
    expect(asked("kms", { target: "TrentService.Decrypt", json })).toEqual([
      `kms:Decrypt ${arn("kms", "key/k")} kms:EncryptionContext:name=email kms:EncryptionContextKeys=name`,
    ]);
  });

  it("that creates a state machine also needs permission to pass a role and publish a version", () => {
    const json = { name: "nova-a", roleArn: "arn:aws:iam::123456789012:role/m", publish: true };
    expect(asked("states", { target: "AWSStepFunctions.CreateStateMachine", json })).toEqual([
      `states:CreateStateMachine ${arn("states", "stateMachine:nova-a")}`,
      `states:PublishStateMachineVersion ${arn("states", "stateMachine:nova-a")}`,
      "iam:PassRole arn:aws:iam::123456789012:role/m iam:PassedToService=states.amazonaws.com",
    ]);
  });

  it("that sets the targets of a rule needs access to the rule, limited to these targets", () => {
    const json = { Rule: "r", EventBusName: "nova", Targets: [{ Id: "a", Arn: "arn:f" }] };
    expect(asked("events", { target: "AWSEvents.PutTargets", json })).toEqual([
      `events:PutTargets ${arn("events", "rule/nova/r")} events:TargetArn=arn:f`,
    ]);
  });

  it("that goes to an unknown service makes the check of AWS roles fail with an error", () => {
    expect(() => asked("glue", {})).toThrow(UnknownRequest);
  });
});
