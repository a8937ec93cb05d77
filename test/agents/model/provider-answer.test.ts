import { gzipSync } from "node:zlib";
import { createModels } from "@nova/agents";
import { describe, expect, it } from "vitest";
import type { ModelCall } from "../../../packages/agents/src/model/models.ts";
import { maxAnswerBytes } from "../../../packages/agents/src/model/provider-answer.ts";
import { readText } from "../../../packages/agents/src/model/read-answer.ts";
import { failureOf, modelCall } from "../../support/model-server/model-call.ts";
import {
  chatAnswer,
  type RawAnswer,
  type RawServer,
  rawServer,
  responsesAnswer,
} from "../../support/model-server/raw-server.ts";

const json = '{"code": "x"}';
const code = { code: "x" };

const apis = [
  { api: "chat", answer: chatAnswer },
  { api: "responses", answer: responsesAnswer },
] as const;

const asText: Partial<ModelCall<string>> = { role: "text", answer: { read: async (answer) => readText(answer) } };

describe.each(apis)("over the $api API,", ({ api, answer }) => {
  const ask = ({ environment }: RawServer) => createModels({ ...environment, NOVA_LLM_API: api }).ask(modelCall());
  const fail = ({ environment }: RawServer, changes: Partial<ModelCall<never>> = {}) =>
    failureOf({ ...environment, NOVA_LLM_API: api }, changes);

  it.each<[string, RawAnswer]>([
    ["a text", answer(json)],
    [
      "a list of text parts",
      answer([
        { type: "text", text: '{"code":' },
        { type: "output_text", text: ' "x"}' },
      ]),
    ],
    ["a list of texts", answer([json])],
    [
      "thinking parts before a text part",
      answer([
        { type: "thinking", thinking: [{ type: "text", text: '{"code": "draft"}' }] },
        { type: "reasoning", text: '{"code": "draft"}' },
        { type: "redacted_thinking", data: "sealed" },
        { type: "text", text: json },
      ]),
    ],
    ["thoughts of the model in its text", answer(`First {"code": "draft"}.</think>${json}`)],
    ["unknown fields", { ...answer(json), extra: { deep: [1] } }],
    ["no token counts", { ...answer(json), usage: undefined }],
    ["token counts of an unknown form", { ...answer(json), usage: [1] }],
  ])("an answer that contains %s is accepted", async (_what, body) => {
    await using server = await rawServer(body);
    expect(await ask(server)).toMatchObject({ value: code });
    expect(server.bodies).toHaveLength(1);
  });

  it.each<[string, RawAnswer, RegExp]>([
    ["an empty body", "", /gave no answer: what it sent is no answer of this API \(it is empty\); see OPENAI_BASE_URL/],
    ["a web page", "<!DOCTYPE html><p>Hello", /\(a web page\)/],
    [
      "a web page with the content type of HTML",
      (response) => response.writeHead(200, { "content-type": "text/html" }).end("<html>"),
      /a web page/,
    ],
    ["JSON that is cut off", '{"choices": [', /\(no JSON\)/],
    [
      "a stream of events",
      (response) => response.writeHead(200, { "content-type": "text/event-stream" }).end('data: {"choices":[]}\n\n'),
      /\(a stream of events, which was not asked for\)/,
    ],
    ["a list", [], /what it sent is no answer of this API \(.* at its top\)/],
    ["null", "null", /what it sent is no answer of this API/],
    ["an object without the fields of the API", { ok: true }, /what it sent is no answer of this API/],
    ["content that is a number", answer(12), /no answer of this API \(.*content\)/],
    ["content that is an object", answer({ code: "x" }), /no answer of this API \(.*content\)/],
    ["a part that is a picture", answer([{ type: "image_url", image_url: {} }]), /a part of type "image_url"/],
    ["an error with status 200", { error: { message: "out of memory" } }, /gave no answer: out of memory$/],
    ["an error that is a text", { error: "model is loading" }, /gave no answer: model is loading$/],
  ])("an answer that does not fit the API causes an error after one request: %s", async (_what, body, message) => {
    await using server = await rawServer(body);
    const error = await fail(server);
    expect(error).toMatchObject({ name: "ModelError", reason: "unavailable", message: expect.stringMatching(message) });
    expect((error as Error).message.split("\n")).toHaveLength(1);
    expect(server.bodies).toHaveLength(1);
  });

  it.each<[string, unknown]>([
    ["an empty text", ""],
    ["only white space", " \n"],
    ["null", null],
    ["an empty list of parts", []],
    ["thoughts of the model alone", "<think>{}</think>"],
    ["thoughts of the model that do not end", '<think>{"code": "draft"}'],
    ["a thinking part alone", [{ type: "thinking", thinking: "hm" }]],
  ])("an empty answer is requested once more: %s", async (_what, content) => {
    await using server = await rawServer(answer(content), answer(json));
    expect(await ask(server)).toMatchObject({ value: code, usage: { input: 20, output: 10 } });
    expect(JSON.parse(server.bodies[1] ?? "").messages ?? JSON.parse(server.bodies[1] ?? "").input).toContainEqual({
      role: "user",
      content: "Your answer cannot be used: it is empty. Answer again.",
    });
    await using silent = await rawServer(answer(content));
    expect(await fail(silent)).toMatchObject({
      reason: "unclear",
      message:
        'the answer of model "gpt-6.1-terra" to the code_generator cannot be used: it is empty - name another model',
    });
    expect(silent.bodies).toHaveLength(2);
  });

  it("an answer with several different JSON objects is requested once more", async () => {
    const ambiguous = answer(`Example: {"code": "a"}. Final: ${json}`);
    await using server = await rawServer(ambiguous, answer(json));
    expect(await ask(server)).toMatchObject({ value: code });
    await using unsure = await rawServer(ambiguous);
    expect(await fail(unsure)).toMatchObject({
      reason: "unclear",
      message: expect.stringMatching(
        /cannot be used: it is ambiguous: it has 2 different JSON objects, and one is wanted -/,
      ),
    });
    expect(unsure.bodies).toHaveLength(2);
  });

  it("an unusable answer is not requested again if the caller itself repeats the request", async () => {
    await using server = await rawServer(answer(null));
    const error = await fail(server, { ...asText, isAskedOnce: true } as Partial<ModelCall<never>>);
    expect(error).toMatchObject({
      reason: "invalid",
      message: 'the answer of model "gpt-6.1-terra" to the text cannot be used: it is empty - name another model',
      unusable: { problem: "it is empty", advice: "name another model" },
    });
    expect(server.bodies).toHaveLength(1);
  });

  it("the first call of an unknown tool gets an error as its result, and the second one ends the request with an error", async () => {
    const calls =
      api === "chat"
        ? chatAnswer(null, { tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }] })
        : responsesAnswer([], [{ type: "function_call", call_id: "c1", name: "f", arguments: "{}" }]);
    await using server = await rawServer(calls);
    expect(await fail(server)).toMatchObject({
      reason: "unclear",
      message: expect.stringMatching(/never came: it calls tools that nobody offers - name another model$/),
    });
    expect(server.bodies).toHaveLength(2);
    await using mended = await rawServer(calls, answer(json));
    expect(await ask(mended)).toMatchObject({ value: code });
  });
});

describe("over the chat API,", () => {
  const environmentOf = ({ environment }: RawServer) => ({ ...environment, NOVA_LLM_API: "chat" });

  it.each(["reasoning", "reasoning_content", "thinking"])(
    "the field %s beside the content is ignored",
    async (field) => {
      await using server = await rawServer(
        chatAnswer(null, { [field]: json }),
        chatAnswer(json, { [field]: '{"code": "a"}' }),
      );
      expect(await createModels(environmentOf(server)).ask(modelCall())).toMatchObject({ value: code });
      expect(server.bodies).toHaveLength(2);
    },
  );

  it.each<[string, object]>([
    ["no choices", { choices: [] }],
    ["a choice without a message", { choices: [{ index: 0, text: json }] }],
    ["null in place of its choices", { choices: null }],
  ])("an answer with %s causes an error after one request", async (_what, body) => {
    await using server = await rawServer(body);
    const message = expect.stringContaining("what it sent is no answer of this API");
    expect(await failureOf(environmentOf(server))).toMatchObject({ reason: "unavailable", message });
    expect(server.bodies).toHaveLength(1);
  });

  it("a part of the type refusal causes an error with the reason refused", async () => {
    await using server = await rawServer(chatAnswer([{ type: "refusal", refusal: "I will not" }]));
    expect(await failureOf(environmentOf(server))).toMatchObject({
      reason: "refused",
      message: expect.stringContaining("(I will not)"),
    });
  });
});

describe("over the responses API,", () => {
  it("a message of the phase commentary is ignored", async () => {
    const commentary = { type: "message", role: "assistant", phase: "commentary", content: '{"code": "draft"}' };
    await using server = await rawServer(responsesAnswer(json, [commentary]));
    expect(await createModels(server.environment).ask(modelCall())).toMatchObject({ value: code });
    expect(server.bodies).toHaveLength(1);
  });
});

describe("a server that ignores the schema of an answer at /responses", () => {
  it("causes an error that recommends NOVA_LLM_API=chat", async () => {
    await using server = await rawServer(responsesAnswer("Sure, here it is."));
    expect(await failureOf(server.environment)).toMatchObject({
      message:
        'the answer of model "gpt-6.1-terra" to the code_generator does not follow its schema: there is no JSON object in it - set NOVA_LLM_API=chat where nodes run (in the terminal of `nova dev`, if that is open) if the server ignores schemas at /responses, or name another model',
    });
  });
});

const tooLarge = /gave no answer: its answer is larger than 8 MB; see OPENAI_BASE_URL/;

describe.each(["chat", "responses"] as const)("an answer of a provider over the API %s", (NOVA_LLM_API) => {
  const fails = (environment: object) => failureOf({ ...environment, NOVA_LLM_API });

  it("is cancelled while it arrives if it is too large, and is not requested again", async () => {
    let sent = 0;
    await using server = await rawServer((response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const part = Buffer.alloc(1024 * 1024, " ");
      const send = () => {
        for (; sent < 200 && !response.destroyed; sent++)
          if (!response.write(part)) return response.once("drain", send);
        response.end();
      };
      send();
    });
    expect(await fails(server.environment)).toMatchObject({
      reason: "unavailable",
      message: expect.stringMatching(tooLarge),
    });
    expect(sent).toBeLessThan(100);
    expect(server.bodies).toHaveLength(1);
  });

  it("is limited in its size after decompression", async () => {
    const body = gzipSync(Buffer.alloc(maxAnswerBytes * 8, " "));
    await using server = await rawServer((response) =>
      response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end(body),
    );
    expect(await fails(server.environment)).toMatchObject({
      reason: "unavailable",
      message: expect.stringMatching(tooLarge),
    });
    expect(server.bodies).toHaveLength(1);
  });

  it("with an error status is cancelled while it arrives if it is too large", async () => {
    await using server = await rawServer((response) =>
      response.writeHead(500, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(maxAnswerBytes * 2, " "))),
    );
    expect(await fails(server.environment)).toMatchObject({ message: expect.stringMatching(tooLarge) });
    expect(server.bodies).toHaveLength(1);
  });

  it.each(["gzip", "br", "deflate"])("causes an error after one request if it is not valid %s", async (encoding) => {
    await using server = await rawServer((response) =>
      response.writeHead(200, { "content-encoding": encoding }).end("this is not compressed at all"),
    );
    const message = expect.stringContaining("gave no answer: its answer cannot be decompressed");
    expect(await fails(server.environment)).toMatchObject({ reason: "unavailable", message });
    expect(server.bodies).toHaveLength(1);
  });

  it.each([301, 302, 303, 307, 308])(
    "with the redirect status %i is not followed, because the new address would get the prompt",
    async (status) => {
      await using elsewhere = await rawServer({});
      await using server = await rawServer((response) =>
        response.writeHead(status, { location: `${elsewhere.url}/x` }).end(),
      );
      const message = expect.stringMatching(
        /gave no answer: it redirects to another address, and prompts and keys follow no redirect; set OPENAI_BASE_URL/,
      );
      expect(await fails(server.environment)).toMatchObject({ reason: "unavailable", message });
      expect([server.bodies.length, elsewhere.bodies.length]).toEqual([1, 0]);
    },
  );
});
