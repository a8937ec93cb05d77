import { describe, expect, it } from "vitest";
import { Context } from "../../../packages/engine/src/context/context.ts";
import { referenceText } from "../../../packages/engine/src/context/references.ts";
import { mask, Redactor, SecretFound } from "../../../packages/engine/src/secrets/redactor.ts";
import { redactorFor } from "../../../packages/engine/src/secrets/secret-inputs.ts";
import { action, flow, lines } from "../../support/engine/flows.ts";
import { fails, Story, succeeds, wellTold } from "../../support/engine/story.ts";

const half = "pa55\ud800word";
/** Nested too deeply for any recursive function. */
const deep = `${'["s3cr3t",'.repeat(20_000)}1${"]".repeat(20_000)}`;

const keys = new Set(["key"]);
const contextOf = (json: string) => new Context([{ key: "key", json, by: 0 }]);
const noBlob = () => Promise.reject(new RangeError("there is no blob in here"));

describe("half a surrogate in a secret", () => {
  it.each([half, "\udc00abcd", "abcd\ud800"])("is found like any other text: %j", (secret) => {
    const redactor = new Redactor([secret]);
    expect(redactor.mask(`it is ${secret}!`)).toBe(`it is ${mask}!`);
    expect(redactor.finds(JSON.stringify({ said: secret }))).toBe(true);
    expect(redactor.finds("pa55 word abc")).toBe(false);
  });
});

describe("unreadable secrets", () => {
  it("make every text secret, so that no result of code is stored", async () => {
    const redactor = await redactorFor(keys, contextOf(deep), noBlob);
    expect(redactor.finds("anything")).toBe(true);
    expect([redactor.isIdle, redactor.finds("anything"), redactor.finds("")]).toEqual([false, true, true]);
    expect([redactor.mask("KeyError"), redactor.maskTail("a log"), redactor.mask("")]).toEqual([mask, mask, ""]);
  });

  it("let no byte through", async () => {
    let found = 0;
    const refused = new Redactor(null).refuse(bytes("some"), () => found++);
    await expect(Array.fromAsync(refused)).rejects.toThrow(SecretFound);
    expect(found).toBe(1);
  });

  it("include those of a blob that is not valid JSON, but not those of a temporarily unavailable blob", async () => {
    const blob = referenceText({ sha256: "a".repeat(64), bytes: 9, type: "json" });
    const read = async () => Buffer.from("{no json");
    expect(await redactorFor(keys, contextOf(blob), read)).toBeInstanceOf(Redactor);
    await expect(redactorFor(keys, contextOf(blob), noBlob)).rejects.toThrow("there is no blob in here");
  });
});

describe("a run with half a surrogate in a secret input", () => {
  const inputs = { properties: { key: { secret: true } } };
  const one = flow("one", [action("a")], lines("start > a > end"), { inputs });
  const begun = (script = succeeds("a", "1")) => new Story(one, { a: [script] }).start(JSON.stringify({ key: half }));

  it("can be cancelled while its code runs", async () => {
    const story = await begun();
    story.codeStopsAt = "finish";
    const process = story.deliver("a", 0);
    while (await story.step(process));
    expect(await story.finish(story.cancel())).toMatchObject({ status: "cancelled" });
    expect(story.world.record(story.id)).toMatchObject({ status: "cancelled", open: false });
    expect(story.chain).toEqual(["start success", "a failed", "(close) cancelled"]);
    wellTold(story);
  });

  it("fails without showing the secret", async () => {
    const story = await begun(fails("KeyError: 'pa55\\ud800word'"));
    await story.finish(story.deliver("a", 0));
    await story.finish(story.close(1));
    const { error, ...record } = story.world.record(story.id);
    expect([record.status, record.open, error?.message]).toEqual(["failed", false, "KeyError: '***'"]);
    wellTold(story);
  });
});

async function* bytes(text: string) {
  yield Buffer.from(text);
}
