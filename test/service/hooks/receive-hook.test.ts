import { createHmac } from "node:crypto";
import { NovaError } from "@nova/engine";
import { type HookRequest, NotFound, Refused, receiveHook, type ServicePorts } from "@nova/service";
import type { WebhookTrigger } from "@nova/workflow";
import { beforeEach, describe, expect, it } from "vitest";
import { TriggerWorld } from "../support/trigger-world.ts";

const key = "whsec_9f8e";
const json = '{"id": "evt_1", "total": 850.0}';
const signature = { header: "x-signature", secret: "vendor", algorithm: "sha256" } as const;
const signed: WebhookTrigger = { type: "webhook", id: "vendor", signature, dedupe: "body.id", client: "acme" };
const open: WebhookTrigger = { type: "webhook", id: "open" };

let world: TriggerWorld;
/** The arguments of each call that read credentials. */
let asked: unknown[];

beforeEach(async () => {
  world = new TriggerWorld();
  asked = [];
  await world.publish("pay", [signed, open]);
});

/** Returns ports with one credential that has a key and a name. */
function ports(forNode?: ServicePorts["credentials"]["forNode"]): ServicePorts {
  const overlay = { members: members({ vendor_key: key, vendor_name: "Vendor" }), secrets: [key, "old"], hosts: [] };
  const known: ServicePorts["credentials"]["forNode"] = async (...args) => {
    asked.push(args);
    return overlay;
  };
  return { ...world.ports(), credentials: { ...world.ports().credentials, forNode: forNode ?? known } };
}

const members = (values: object) =>
  Object.entries(values).map(([key, value]) => ({ key, json: JSON.stringify(value) }));

function request(id: string, body = json, headers: Record<string, string> = {}): HookRequest {
  const from = "203.0.113.7";
  const digest = createHmac("sha256", key).update(body).digest("hex");
  const usual = { "content-type": "application/json", "user-agent": "Vendor/1.0", "x-signature": digest };
  return { id, headers: { ...usual, ...headers }, body: Buffer.from(body), from };
}

describe("a request to a webhook", () => {
  it("starts a run with its unchanged body and with its headers, except for the headers for sign-in", async () => {
    const headers = { authorization: "Bearer s3cret", cookie: "s=1", "x-api-key": "k" };
    const { execution, waitSeconds } = await receiveHook(ports(), request("vendor", json, headers));
    expect(waitSeconds).toBe(0);
    expect(world.runs).toEqual([execution]);
    const { webhook } = await world.context(execution);
    expect(webhook).toEqual({
      id: "vendor",
      headers: { "content-type": "application/json", "user-agent": "Vendor/1.0", "x-signature": expect.any(String) },
      body: { id: "evt_1", total: 850 },
    });
    expect(asked).toEqual([["acme", "pay", ["vendor"]]]);
    const known = { type: "webhook", workflow: "pay", trigger: "vendor", client: "acme", from: "203.0.113.7" };
    expect(world.records).toMatchObject([
      { ...known, about: "Vendor/1.0", dedupe: "evt_1", status: "started", execution },
    ]);
  });

  it("starts one run, even if it is delivered twice", async () => {
    const first = await receiveHook(ports(), request("vendor"));
    expect(await receiveHook(ports(), request("vendor"))).toEqual(first);
    expect(world.runs).toHaveLength(1);
  });

  it.each([
    ["another content-type", signed, { "content-type": "text/plain" }],
    ["a form's content-type", signed, { "content-type": "application/x-www-form-urlencoded" }],
    ["the content-type of bytes", signed, { "content-type": "application/pdf" }],
    ["another delivery in a header", { ...signed, dedupe: "headers.x-delivery" }, { "x-delivery": "d-2" }],
  ])("starts one run if a signed request is replayed with %s", async (_, trigger, headers) => {
    await world.publish("pay", [trigger]);
    const first = await receiveHook(ports(), request("vendor", json, { "x-delivery": "d-1" }));
    expect(await receiveHook(ports(), request("vendor", json, headers))).toEqual(first);
    expect(world.runs).toEqual([first.execution]);
  });

  it("starts a second run if its long delivery id differs from an earlier id only in the last digit", async () => {
    const ids = ["820982911946154508", "820982911946154509", "820982911946154510"];
    for (const id of ids) await receiveHook(ports(), request("vendor", `{"id": ${id}, "total": 850.0}`));
    expect(world.records.map(({ dedupe }) => dedupe)).toEqual(ids);
    const texts = await Promise.all(world.runs.map((run) => world.contextText(run)));
    expect(texts.map((text) => /"body":(.*)\}\}$/.exec(text)?.[1])).toEqual(
      ids.map((id) => `{"id": ${id}, "total": 850.0}`),
    );
  });

  it("starts one run if it was refused and is sent again after the cause of the refusal is repaired", async () => {
    const needs = { type: "object", properties: { webhook: { type: "string" } } } as const;
    await world.publish("pay", [signed, open], needs);
    await expect(receiveHook(ports(), request("vendor"))).rejects.toThrow(Refused);
    await world.publish("pay", [signed, open]);
    const again = await receiveHook(ports(), request("vendor"));
    expect(await receiveHook(ports(), request("vendor"))).toEqual(again);
    expect(world.runs).toEqual([again.execution]);
    expect(world.records).toMatchObject([{ status: "started", execution: again.execution, reason: null }]);
  });

  it("is refused if the API has rejected its body, and is recorded at most once a minute if it is signed", async () => {
    const flaw = new RangeError("the body has 5000000 bytes");
    const flawed = (id: string, headers = {}) => receiveHook(ports(), { ...request(id, "{", headers), flaw });
    for (const _ of "ab") await expect(flawed("vendor")).rejects.toBe(flaw);
    expect(world.records).toMatchObject([{ trigger: "vendor", status: "refused", reason: flaw.message }]);
    await expect(flawed("vendor", { "x-signature": "00" })).rejects.toThrow(NotFound);
    expect(world.records).toHaveLength(2);
  });

  it("needs no signature if its trigger requires no signature, and always starts a new run if the trigger has no `dedupe`", async () => {
    await receiveHook(ports(), request("open", json, { "x-signature": "" }));
    await receiveHook(ports(), request("open", json, { "x-signature": "" }));
    expect(world.runs).toHaveLength(2);
    expect(asked).toEqual([]);
  });

  it("starts a run whose context contains the bytes of a PDF if its body is this PDF", async () => {
    const { execution } = await receiveHook(ports(), request("open", "%PDF", { "content-type": "application/pdf" }));
    const { webhook } = await world.context(execution);
    expect(webhook.body).toMatchObject({ $blob: { bytes: 4, type: "bytes" } });
  });

  it("returns the field `waitSeconds` of its trigger", async () => {
    await world.publish("slow", [{ ...open, id: "slow", waitSeconds: 20 }]);
    expect(await receiveHook(ports(), request("slow"))).toMatchObject({ waitSeconds: 20 });
  });

  it("gets the same answer for a wrong signature as for a webhook that does not exist", async () => {
    const wrong = (id: string) =>
      receiveHook(ports(), request(id, json, { "x-signature": "00" })).catch((error) => error);
    const [absent, refused] = [await wrong("nobody"), await wrong("vendor")];
    expect(absent).toBeInstanceOf(NotFound);
    expect(refused).toBeInstanceOf(NotFound);
    expect(refused.message.replace("vendor", "nobody")).toBe(absent.message);
    expect(world.runs).toEqual([]);
  });

  it("is recorded with the reason if it is refused, but at most once a minute for the same reason", async () => {
    for (const value of ["00", "11"]) {
      await expect(receiveHook(ports(), request("vendor", json, { "x-signature": value }))).rejects.toThrow(NotFound);
    }
    for (const id of ["nobody", "none"]) await expect(receiveHook(ports(), request(id))).rejects.toThrow(NotFound);
    const refused = { status: "refused", execution: null };
    expect(world.records).toMatchObject([
      { workflow: "pay", trigger: "vendor", ...refused, reason: "its signature is wrong" },
      { workflow: null, trigger: null, client: null, ...refused, reason: 'no workflow has the hook "nobody"' },
    ]);
  });

  it("is refused if it is signed with a key that was replaced, or with a field of the credential that is not secret", async () => {
    for (const other of ["old", "Vendor"]) {
      const digest = createHmac("sha256", other).update(json).digest("hex");
      await expect(receiveHook(ports(), request("vendor", json, { "x-signature": digest }))).rejects.toThrow(NotFound);
    }
  });

  it("is refused if the credential with the signing key does not exist, and the record of the delivery names this reason", async () => {
    const missing = async () => Promise.reject(new NovaError("NodeFailed", 'client "acme" has no credential "vendor"'));
    await expect(receiveHook(ports(missing), request("vendor"))).rejects.toThrow(NotFound);
    expect(world.records).toMatchObject([{ status: "refused", reason: 'client "acme" has no credential "vendor"' }]);
  });

  it("gets a temporary error if the signing keys are unavailable, so that the sender repeats the request", async () => {
    const down = async () => Promise.reject(new NovaError("SandboxUnavailable", "the store does not answer"));
    await expect(receiveHook(ports(down), request("vendor"))).rejects.toThrow("the store does not answer");
    expect(world.records).toEqual([]);
  });

  it("is recorded if its body is unreadable, even if another request was refused for another reason in the same minute", async () => {
    await expect(receiveHook(ports(), request("vendor", json, { "x-signature": "00" }))).rejects.toThrow(NotFound);
    await expect(receiveHook(ports(), request("vendor", "{"))).rejects.toThrow(/not JSON/);
    await expect(receiveHook(ports(), request("vendor", '{"password": hunter2}'))).rejects.toThrow(
      'hook "vendor": its body is not JSON - correct it, or send another content-type',
    );
    const reasons = world.records.map(({ reason }) => reason);
    expect(reasons).toEqual(["its signature is wrong", expect.stringMatching(/not JSON/)]);
  });

  it.each([
    ["that is not JSON", "{", ["acme"], /not JSON/],
    ["for a client that does not exist", json, [], /no client "acme"/],
  ])("%s is refused, and the refusal is recorded", async (_, body, clients, reason) => {
    world.clients = new Set(clients);
    const refused = receiveHook(ports(), request("vendor", body));
    await expect(refused).rejects.toThrow(Refused);
    await expect(refused).rejects.toThrow(reason);
    expect(world.records).toMatchObject([{ status: "refused", reason: expect.stringMatching(reason) }]);
  });

  it("starts a run only of the workflow's active version", async () => {
    await world.publish("other", []);
    world.triggers.kept.clear();
    await expect(receiveHook(ports(), request("open"))).rejects.toThrow(NotFound);
  });
});
