import { createHash } from "node:crypto";
import { StoreUnavailable } from "@nova/engine";
import { beforeEach, describe, expect, it } from "vitest";
import { createBus, type NovaBus } from "../../../packages/aws/src/events/bus.ts";
import { useBucket } from "../support/endpoints.ts";
import { useScriptedService } from "../support/scripted-service.ts";

const bucket = useBucket();
const service = useScriptedService("AWS_ENDPOINT_URL_EVENTBRIDGE");
const operation = "AWSEvents.PutEvents";
const taken = { operation, body: { FailedEntryCount: 0, Entries: [{ EventId: "e-1" }] } };
const failing = (ErrorCode: string) => ({
  operation,
  body: { FailedEntryCount: 1, Entries: [{ ErrorCode, ErrorMessage: "so it is" }] },
});

let bus: NovaBus;

beforeEach(() => {
  bus = createBus({ busName: "nova-test", bucket, sleep: async () => undefined });
});

const paid = { source: "shop", type: "Paid", detail: '{"id": 1234567890.5}' };

function detailPut(): string {
  return service.asked[0]?.body.Entries[0].Detail;
}

/** Returns an event with the envelope of EventBridge. */
const received = (detail: string) =>
  `{"version":"0","id":"e-1","detail-type":"Paid","source":"shop","detail":${detail}}`;

describe("an event for EventBridge", () => {
  it("is sent unchanged, and its id is returned", async () => {
    service.steps = [taken];
    expect(await bus.put(paid)).toBe("e-1");
    const entry = { EventBusName: "nova-test", Source: "shop", DetailType: "Paid", Detail: paid.detail };
    expect(service.asked).toEqual([{ operation, body: { Entries: [entry] } }]);
    expect(bucket.operations).toEqual([]);
  });

  it.each<[string, (own: NovaBus) => Promise<unknown>, object]>([
    [
      "an event of a run",
      (own) => own.publish("execution.failed", { execution_id: "exec_1" }),
      { DetailType: "execution.failed", Detail: '{"execution_id":"exec_1"}' },
    ],
    [
      "an event about a publication",
      (own) => own.enqueue({ workflow: "pay", version: 3 }),
      { DetailType: "workflow.publishing", Detail: '{"workflow":"pay","version":3}' },
    ],
  ])("has NOVA as its source if NOVA itself sends it: %s", async (_, put, entry) => {
    service.steps = [taken];
    await put(bus);
    expect(service.asked[0]?.body.Entries).toEqual([{ EventBusName: "nova-test", Source: "nova", ...entry }]);
  });

  it.each(["ThrottlingException", "InternalFailure", "InternalException"])(
    "is sent again if EventBridge rejects it with %s",
    async (code) => {
      service.steps = [failing(code), failing(code), taken];
      expect(await bus.put(paid)).toBe("e-1");
    },
  );

  it("causes an error with the reason if EventBridge refuses it", async () => {
    service.steps = [failing("MalformedDetail")];
    await expect(bus.put(paid)).rejects.toThrow(/did not take an event "Paid" \(MalformedDetail so it is\)/);
  });

  it("causes the error StoreUnavailable if all attempts to send it fail", async () => {
    service.steps = Array(6).fill(failing("ThrottlingException"));
    await expect(bus.put(paid)).rejects.toThrow(StoreUnavailable);
  });
});

describe("an event that is too large for EventBridge", () => {
  const rows = "x".repeat(1024 * 1024);
  const detail = JSON.stringify({ order: "A-1", paid: true, note: "y".repeat(300), lines: [1], rows });
  const sha256 = createHash("sha256").update(detail).digest("hex");
  const reference = { key: `events/${sha256}.json`, bytes: detail.length };

  it("is sent with its short fields and a reference to all of its detail in S3", async () => {
    service.steps = [taken];
    await bus.put({ ...paid, detail });
    const Detail = detailPut();
    const { key, bytes } = reference;
    expect(JSON.parse(Detail)).toEqual({ order: "A-1", paid: true, nova_detail: { key: expect.any(String), bytes } });
    // Another event with the same detail has a separate object, which exists until the delivery of that event.
    expect(Detail).toMatch(/"key":"events\/[0-9a-f]{64}\.json"/);
    expect(Detail).not.toContain(key);
    expect(bucket.operations).toEqual(["PutObject"]);
  });

  it("is restored from S3 with exact numbers when it arrives", async () => {
    service.steps = [taken];
    const large = detail.replace('"lines":[1]', '"lines":[850.0]');
    await bus.put({ ...paid, detail: large });
    const Detail = detailPut();
    expect(await bus.whole(received(Detail))).toBe(received(large));
  });

  it.each([
    ["no reference", "{}"],
    ["a reference to a key outside the prefix of events", '{"nova_detail":{"key":"blobs/acme/exec_1/00","bytes":1}}'],
    ["a reference with `..` in its key", `{"nova_detail":{"key":"events/../blobs/${sha256}.json","bytes":1}}`],
    ["a text in place of a reference", '{"nova_detail":"events/1.json"}'],
    ["null in place of a reference", '{"nova_detail":null}'],
  ])("is returned unchanged, and not read from S3, if its detail has %s", async (_, small) => {
    expect(await bus.whole(received(small))).toBe(received(small));
    expect(bucket.operations).toEqual([]);
  });

  it("is returned as undefined if its detail is missing in S3", async () => {
    const absent = `{"nova_detail":{"key":"events/${"0".repeat(64)}.json","bytes":1}}`;
    expect(await bus.whole(received(absent))).toBeUndefined();
  });
});

describe("an event with numbers that JavaScript would change", () => {
  /** Returns the event that a function receives after Lambda's runtime has parsed the JSON. */
  const throughLambda = (detail: string) => bus.whole(JSON.stringify(JSON.parse(received(detail))));

  it.each([
    '{"n":850.0,"m":12345678901234567890}',
    '{"deep":[{"rate":1e2}],"id":1}',
    '{ "n": -0 }\n',
    '{"huge":1e400}',
  ])("arrives with the exact numbers of %s", async (detail) => {
    service.steps = [taken];
    await bus.put({ ...paid, detail });
    expect(await throughLambda(detailPut())).toBe(received(detail));
  });

  it("is sent with its detail unchanged, so that rules can match it", async () => {
    service.steps = [taken];
    await bus.put({ ...paid, detail: '{"order":{"total":850.0},"lines":[1]}' });
    expect(detailPut()).toMatch(
      /^\{"order":\{"total":850\.0\},"lines":\[1\],"nova_detail":\{"key":"events\/[0-9a-f]{64}/,
    );
    expect(bucket.operations).toEqual(["PutObject"]);
  });

  it("is sent with its short fields and a reference to the exact detail if the whole detail and the reference exceed the size limit", async () => {
    service.steps = [taken];
    const detail = `{"n":850.0,"rows":"${"x".repeat(1024 * 1024 - 4096 - 60)}"}`;
    await bus.put({ ...paid, detail });
    expect(detailPut()).toMatch(/^\{"n":850,"nova_detail":\{/);
    expect(await throughLambda(detailPut())).toBe(received(detail));
  });

  it("is stored in S3 if it has 900 KB, but an event of this size with ordinary numbers is not", async () => {
    service.steps = [taken];
    const detail = JSON.stringify({ rows: "x".repeat(900 * 1024) });
    await bus.put({ ...paid, detail });
    expect([detailPut(), bucket.operations]).toEqual([detail, []]);
  });

  it.each(['{"n":850,"rate":0.1,"b":2,"a":1}', "{}", '{ "text" : "850.0" }'])(
    "is stored in S3, but an event with the detail %s is not, because its numbers stay the same",
    async (detail) => {
      service.steps = [taken];
      await bus.put({ ...paid, detail });
      expect([detailPut(), bucket.operations]).toEqual([detail, []]);
    },
  );
});
