import { ListStateMachinesCommand } from "@aws-sdk/client-sfn";
import { describe, expect, it } from "vitest";
import { signedFetch } from "../support/signed.ts";
import { clientOf, KEY, testServer } from "./support/server.ts";

function post(url: string, target: string, body: string) {
  return signedFetch("states", KEY, url, { method: "POST", body, headers: { "x-amz-target": target } });
}

describe("the endpoint of the local Step Functions", () => {
  it("answers only requests with the data folder's access key", async () => {
    const { url } = await testServer();
    const stranger = clientOf(url, { ...KEY, accessKeyId: "AKSTRANGER" });
    await expect(stranger.send(new ListStateMachinesCommand({}))).rejects.toMatchObject({
      name: "UnrecognizedClientException",
      message: "The security token included in the request is invalid.",
      $metadata: { httpStatusCode: 403 },
    });
    stranger.destroy();
    const headers = { "x-amz-target": "AWSStepFunctions.ListStateMachines" };
    expect((await fetch(url, { method: "POST", body: "{}", headers })).status).toBe(403);
  });

  it("refuses a request with the id of the access key and another secret", async () => {
    const { url } = await testServer();
    const stranger = clientOf(url, { ...KEY, secretAccessKey: "anything" });
    await expect(stranger.send(new ListStateMachinesCommand({}))).rejects.toMatchObject({
      name: "InvalidSignatureException",
      $metadata: { httpStatusCode: 403 },
    });
    stranger.destroy();
  });

  it.each([
    ["AWSStepFunctions.CreateActivity", "{}", "UnknownOperationException"],
    ["DynamoDB_20120810.ListTables", "{}", "UnknownOperationException"],
    ["AWSStepFunctions.toString", "{}", "UnknownOperationException"],
    ["AWSStepFunctions.ListStateMachines", "{", "SerializationException"],
    ["AWSStepFunctions.ListStateMachines", "[]", "SerializationException"],
    ["AWSStepFunctions.ListStateMachines", '{"maxResults":"many"}', "SerializationException"],
    ["AWSStepFunctions.ListStateMachines", '{"maxResults":1001}', "ValidationException"],
  ])("answers a request with %s %s with %s", async (target, body, type) => {
    const { url } = await testServer();
    const answer = await post(url, target, body);
    expect(answer.status).toBe(400);
    expect(answer.headers.get("content-type")).toBe("application/x-amz-json-1.0");
    expect(answer.headers.get("x-amzn-requestid")).toMatch(/^[\da-f-]{36}$/);
    expect(await answer.json()).toMatchObject({ __type: type, message: expect.any(String) });
  });

  it("can be reached only from this machine", async () => {
    const { url } = await testServer();
    expect(new URL(url).hostname).toBe("127.0.0.1");
  });
});
