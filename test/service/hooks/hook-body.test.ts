import { buffer } from "node:stream/consumers";
import type { FileInPlace } from "@nova/engine";
import { describe, expect, it } from "vitest";
import { Refused } from "../../../packages/service/src/errors.ts";
import { readHookBody } from "../../../packages/service/src/hooks/hook-body.ts";

describe("the body of a hook", () => {
  it.each([
    ["application/json", '{"n": 12345678901234567890, "x": 850.0}', '{"n": 12345678901234567890, "x": 850.0}'],
    ["application/cloudevents+json; charset=utf-8", "[1]", "[1]"],
    ["application/json", "", "null"],
    ["application/x-www-form-urlencoded", "a=1&b=x+y&a=2", '{"a":["1","2"],"b":"x y"}'],
    ["text/plain; charset=utf-8", "grüß", '"grüß"'],
  ])("of type %s keeps what was written: %s", (type, text, json) => {
    expect(readHookBody(type, Buffer.from(text))).toEqual({ json, files: [] });
  });

  it.each(["application/pdf", "", "image/png"])("of type %j is bytes in their place", async (type) => {
    const bytes = Buffer.from([0, 255, 128]);
    const { json, files } = readHookBody(type, bytes);
    expect(files).toMatchObject([
      { mark: JSON.parse(json), bytes: 3, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ]);
    expect(await buffer((files[0] as FileInPlace).open())).toEqual(bytes);
  });

  it.each([
    ["application/json", Buffer.from("{"), /not JSON/],
    ["application/json", Buffer.from(String.raw`{"a": ["\ud800"]}`), /half a character at \$\.a\[0\]/],
    ["application/json", Buffer.from([255]), /no UTF-8/],
    ["text/plain", Buffer.from([255]), /no UTF-8/],
    ["application/x-www-form-urlencoded", Buffer.from([255]), /no UTF-8/],
  ])("of type %s that is none is refused", (type, bytes, message) => {
    expect(() => readHookBody(type, bytes)).toThrow(Refused);
    expect(() => readHookBody(type, bytes)).toThrow(message);
  });
});
