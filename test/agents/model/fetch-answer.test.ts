import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { maxAnswerBytes } from "../../../packages/agents/src/model/fetch-answer.ts";
import { failureOf } from "../../support/model-server/model-call.ts";
import { rawServer } from "../../support/model-server/raw-server.ts";

const tooLarge = /gave no answer: its answer is larger than 8 MB; see OPENAI_BASE_URL/;

describe.each(["chat", "responses"] as const)("an answer over %s", (NOVA_LLM_API) => {
  const fails = (environment: object) => failureOf({ ...environment, NOVA_LLM_API });

  it("that is too large is cancelled while it arrives, and not requested again", async () => {
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

  it("is limited after decompression", async () => {
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

  it("that is too large is also cancelled with an error status", async () => {
    await using server = await rawServer((response) =>
      response.writeHead(500, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(maxAnswerBytes * 2, " "))),
    );
    expect(await fails(server.environment)).toMatchObject({ message: expect.stringMatching(tooLarge) });
    expect(server.bodies).toHaveLength(1);
  });

  it.each(["gzip", "br", "deflate"])(
    "that is not valid %s causes a model error after one request",
    async (encoding) => {
      await using server = await rawServer((response) =>
        response.writeHead(200, { "content-encoding": encoding }).end("this is not compressed at all"),
      );
      const message = expect.stringContaining("gave no answer: its answer cannot be decompressed");
      expect(await fails(server.environment)).toMatchObject({ reason: "unavailable", message });
      expect(server.bodies).toHaveLength(1);
    },
  );

  it.each([301, 302, 303, 307, 308])(
    "that redirects with %i is not followed, because the prompt would be sent along",
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
