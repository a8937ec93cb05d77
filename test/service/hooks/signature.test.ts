import { createHmac } from "node:crypto";
import type { WebhookSignature } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import { signatureProblem } from "../../../packages/service/src/hooks/signature.ts";

const key = "whsec_9f8e";
const body = Buffer.from('{"id":"evt_1","total":850.0}');
const nowMs = Date.parse("2026-11-22T08:00:00Z");
const seconds = nowMs / 1000;
const plain: WebhookSignature = { header: "x-signature", secret: "vendor", algorithm: "sha256" };
const stripe: WebhookSignature = { ...plain, header: "stripe-signature", toleranceSeconds: 300 };

const digest = (text: Buffer | string = body, algorithm = "sha256", by = key) => createHmac(algorithm, by).update(text);
const timed = (at: number, by = key) => digest(`${at}.${body}`, "sha256", by).digest("hex");

const problem = (signature: WebhookSignature, value: string | undefined, keys = [key]) =>
  signatureProblem(signature, keys, { value, body, nowMs });

describe("the signature of a webhook request", () => {
  it.each([
    ["in hex", plain, digest().digest("hex")],
    ["in upper case", plain, digest().digest("hex").toUpperCase()],
    ["in base64, as Shopify's", plain, digest().digest("base64")],
    ["in base64 without padding", plain, digest().digest("base64url")],
    ["after a prefix, as GitHub's", { ...plain, prefix: "sha256=" }, `sha256=${digest().digest("hex")}`],
    ["by SHA-1", { ...plain, algorithm: "sha1" }, digest(body, "sha1").digest("hex")],
    ["by SHA-512", { ...plain, algorithm: "sha512" }, digest(body, "sha512").digest("base64")],
    ["with spaces around it", plain, ` ${digest().digest("hex")} `],
    ["with its time, as Stripe's", stripe, `t=${seconds},v1=${timed(seconds)}`],
    ["with its time, after a signature of an older scheme", stripe, `t=${seconds},v0=00,v1=${timed(seconds)}`],
    [
      "with its time, after a signature with another key",
      stripe,
      `t=${seconds}, v1=${timed(seconds, "old")}, v1=${timed(seconds)}`,
    ],
    ["with a time at the limit", stripe, `t=${seconds - 300},v1=${timed(seconds - 300)}`],
  ] satisfies [string, WebhookSignature, string][])("%s is accepted", (_, signature, value) => {
    expect(problem(signature, value)).toBeUndefined();
  });

  it.each([
    ["is absent", plain, undefined, "it has no header x-signature"],
    ["is empty", plain, "", "its signature is wrong"],
    ["signs another body", plain, digest("{}").digest("hex"), "its signature is wrong"],
    ["uses another key", plain, digest(body, "sha256", "other").digest("hex"), "its signature is wrong"],
    ["uses another algorithm", plain, digest(body, "sha512").digest("hex"), "its signature is wrong"],
    ["is cut off", plain, digest().digest("hex").slice(0, 32), "its signature is wrong"],
    ["is too long", plain, `${digest().digest("hex")}00`, "its signature is wrong"],
    ["lacks its prefix", { ...plain, prefix: "sha256=" }, digest().digest("hex"), "its signature is wrong"],
    ["has no time", stripe, `v1=${timed(seconds)}`, "its header stripe-signature has no time t="],
    ["has another time", stripe, `t=${seconds + 1},v1=${timed(seconds)}`, "its signature is wrong"],
    ["covers only the body", stripe, `t=${seconds},v1=${digest().digest("hex")}`, "its signature is wrong"],
    ["is too old", stripe, `t=${seconds - 301},v1=${timed(seconds - 301)}`, "it was signed 301 seconds ago, or ahead"],
    [
      "is from the future",
      stripe,
      `t=${seconds + 301},v1=${timed(seconds + 301)}`,
      "it was signed 301 seconds ago, or ahead",
    ],
  ] satisfies [string, WebhookSignature, string | undefined, string][])(
    "that %s is refused",
    (_, signature, value, why) => {
      expect(problem(signature, value)).toBe(why);
    },
  );

  it("in the header x-nova-signature is accepted only if NOVA made the signature", () => {
    const nova = { ...stripe, header: "x-nova-signature" };
    const derived = createHmac("sha256", key).update("x-nova-signature").digest();
    const own = createHmac("sha256", derived).update(`${seconds}.${body}`).digest("hex");
    expect(problem(nova, `t=${seconds},v2=${own}`)).toBeUndefined();
    expect(problem(nova, `t=${seconds},v1=${timed(seconds)}`)).toBe("its signature is wrong");
    expect(problem(nova, `t=${seconds},v1=${own}`)).toBe("its signature is wrong");
    expect(problem(nova, `t=${seconds},v2=${timed(seconds)}`)).toBe("its signature is wrong");
    expect(problem(stripe, `t=${seconds},v2=${own}`)).toBe("its signature is wrong");
  });

  it("is accepted if it was made with any key of the credential, and refused if the credential has no key", () => {
    const value = digest().digest("hex");
    expect(problem(plain, value, ["other", key])).toBeUndefined();
    expect(problem(plain, value, [])).toBe("its signature is wrong");
  });
});
