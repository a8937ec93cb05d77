import { textOfJson } from "@nova/workflow";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../../packages/workflow/src/workflow.ts";
import { EventWait } from "../../../support/engine/event-wait.ts";

/** Starts a wait for an event whose `detail.n` matches `wanted`. The wait fills in the values of the context. */
async function waiting(wanted: JsonValue, context: string) {
  const story = await new EventWait({ source: ["crm"], detail: { n: [wanted] } }).begin(context);
  await story.wait();
  return story;
}

describe("an event pattern that names values of the context", () => {
  it.each<[JsonValue, string, string, string]>([
    ["{{customer}}", '{"customer":"acme"}', '"acme"', '"acme-2"'],
    ["{{customer.id}}", '{"customer":{"id":12345678901234567890}}', "12345678901234567890", "12345678901234567891"],
    ["{{n}}", '{"n":12345678901234567000}', "12345678901234567000", "12345678901234567890"],
    ["{{n}}", '{"n":850.0}', "850", "851"],
    ["{{n}}", '{"n":"850"}', '"850"', "850"],
    ["{{n}}", '{"n":true}', "true", '"true"'],
    ["{{n}}", '{"n":null}', "null", '"null"'],
    ["order-{{n}}", '{"n":12345678901234567000}', '"order-12345678901234567000"', '"order-12345678901234567890"'],
    ["order-{{n}}/{{m}}", '{"n":850.0,"m":"x"}', '"order-850.0/x"', '"order-850/x"'],
    [{ prefix: "{{n}}-" }, '{"n":"A"}', '"A-17"', '"B-17"'],
    [{ "anything-but": ["{{n}}"] }, '{"n":7}', "8", "7.0"],
    [{ numeric: [">", "{{n}}"] }, '{"n":100}', "101", "100"],
    // A value is never read as an operator or a template.
    ["{{n}}", '{"n":"{{m}}","m":"x"}', '"{{m}}"', '"x"'],
    ["{{n}}", '{"n":"*"}', '"*"', '"a"'],
    ["{{n}}", '{"n":"{\\"exists\\":true}"}', '"{\\"exists\\":true}"', '"a"'],
    [{ wildcard: "{{n}}-*" }, '{"n":"a*\\\\"}', '"a*\\\\-7"', '"ab-7"'],
  ])(
    "that contains %j matches in the context %s the value %s, but not the value %s",
    async (wanted, context, right, wrong) => {
      const story = await waiting(wanted, context);
      expect(await story.emit(`{"n":${wrong}}`)).toEqual([]);
      expect(await story.emit(`{"n":${right}}`)).toEqual([story.id]);
      expect(story.chain.at(-1)).toBe("pause success");
    },
  );

  it("is stored in the task with the values in place of the names", async () => {
    const story = await waiting("{{n}}", '{"n":12345678901234567890}');
    const [task] = story.world.tasks.all();
    expect(textOfJson(task?.pattern ?? {})).toBe('{"source":["crm"],"detail":{"n":[12345678901234567890]}}');
  });

  it.each([
    ["no value", "{}", /names \{\{n\}\}, which the context does not have/],
    ["an object", '{"n":{"exists":true}}', /\{\{n\}\}, which is no short text, number, true, false or null/],
    ["a list", '{"n":["a"]}', /\{\{n\}\}, which is no short text/],
    ["a text that is too long", JSON.stringify({ n: "x".repeat(5000) }), /\{\{n\}\}, which is no short text/],
  ])("fails its node, with an explanation, if the name leads to %s", async (_what, context, sentence) => {
    const story = await new EventWait({ detail: { n: ["{{n}}"] } }).begin(context);
    await expect(story.wait()).rejects.toMatchObject({ name: "NodeFailed", message: expect.stringMatching(sentence) });
    expect(story.chain.at(-1)).toBe("pause failed");
    expect(story.world.tasks.all()).toEqual([]);
  });

  it("fails its node if the operator of the pattern does not accept the value", async () => {
    const story = await new EventWait({ detail: { n: [{ numeric: [">", "{{n}}"] }] } }).begin('{"n":"many"}');
    await expect(story.wait()).rejects.toThrow(/bound to the context, .*numeric must be such as/);
  });

  it.each([
    ["as its whole text", '{"key":"s3cret-value"}', "{{key}}"],
    ["that is short", '{"key":"abc"}', "{{key}}"],
    ["inside a secret object", '{"key":{"id":7}}', "x-{{key.id}}"],
    ["inside another value", '{"key":"s3cret-value","other":"for s3cret-value"}', "{{other}}"],
  ])("fails its node without showing the secret if the pattern uses a secret %s", async (_what, context, wanted) => {
    const inputs = { properties: { key: { secret: true } } };
    const story = await new EventWait({ detail: { n: [wanted] } }, {}, { inputs }).begin(context);
    const failure = (await story.wait().catch((error) => error)) as Error;
    expect(failure.message).toMatch(/names \{\{[\w.]+\}\}, which is secret, and patterns are stored in the open/);
    expect(JSON.stringify(story.world.tasks.all())).not.toMatch(/s3cret|abc/);
  });
});
