import { buffer } from "node:stream/consumers";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import type { FileInPlace } from "@nova/engine";
import { describe, expect, it } from "vitest";
import { Refused } from "../../../packages/service/src/errors.ts";
import { decompressBody } from "../../../packages/service/src/hooks/decode-body.ts";
import { dedupeIdOf, readHookBody } from "../../../packages/service/src/hooks/hook-body.ts";

function part(disposition: string, content: string | Buffer, type = ""): Buffer {
  const head = `--b\r\nContent-Disposition: form-data; ${disposition}\r\n${type && `Content-Type: ${type}\r\n`}\r\n`;
  return Buffer.concat([Buffer.from(head), Buffer.from(content), Buffer.from("\r\n--b--\r\n")]);
}

describe("the body of a webhook request", () => {
  it.each([
    ["application/json", '{"n": 12345678901234567890, "x": 850.0}', '{"n": 12345678901234567890, "x": 850.0}'],
    ["application/cloudevents+json; charset=utf-8", "[1]", "[1]"],
    ["application/json", "", "null"],
    ["application/x-www-form-urlencoded", "a=1&b=x+y&a=2", '{"a":["1","2"],"b":"x y"}'],
    ["application/x-www-form-urlencoded; charset=windows-1252", "n=Andr%E9&p=%80+1", '{"n":"André","p":"€ 1"}'],
    ['application/x-www-form-urlencoded; charset="ISO-8859-1"', "%E9=%C3%A9", '{"é":"Ã©"}'],
    ["application/x-www-form-urlencoded; Charset=UTF-8", "a&b=&=c&x=100%", '{"a":"","b":"","":"c","x":"100%"}'],
    ["text/plain; charset=utf-8", "grüß", '"grüß"'],
  ])("of type %s keeps its text: %s", async (type, text, json) => {
    expect(await readHookBody(type, Buffer.from(text))).toEqual({ json, files: [] });
  });

  it("of type multipart/form-data becomes an object of its fields and files, and a repeated field becomes a list", async () => {
    const form = new FormData();
    form.append("supplier", "Märkte");
    form.append("tag", "a");
    form.append("tag", "b");
    form.append("pdf", new File([Buffer.from([0, 255, 13, 10])], "../inv\u00e9.pdf", { type: "application/pdf" }));
    const sent = new Response(form);
    const type = sent.headers.get("content-type") ?? "";
    const { json, files } = await readHookBody(type, Buffer.from(await sent.arrayBuffer()));
    expect(JSON.parse(json)).toEqual({
      supplier: "Märkte",
      tag: ["a", "b"],
      pdf: { name: "invé.pdf", type: "application/pdf", bytes: files[0]?.mark },
    });
    expect(await buffer((files[0] as FileInPlace).open())).toEqual(Buffer.from([0, 255, 13, 10]));
  });

  const form = (...parts: [disposition: string, content: string, type?: string][]) => {
    const sections = parts.map(
      ([disposition, content, type]) =>
        `--b\r\nContent-Disposition: form-data; ${disposition}\r\n${type ? `${type}\r\n` : ""}\r\n${content}\r\n`,
    );
    return Buffer.from(`before\r\n${sections.join("")}--b--\r\nafter`, "latin1");
  };
  const latin1 = "Content-Type: text/plain; charset=ISO-8859-1\r\nContent-Transfer-Encoding: 8bit";

  it.each([
    [
      "a charset that a part states",
      "",
      form(['name="a"', "Andr\xe9", latin1], ['name="b"', "\xc3\xa9"]),
      { a: "André", b: "é" },
    ],
    ["a charset of the whole form", "; charset=windows-1252", form(['name="\xe9"', "\x80"]), { é: "€" }],
    [
      "a part in another charset beside a part in UTF-8",
      "",
      form(['name="a"', "\xe9", latin1], ['name="b"', "\xef\xbf\xbd"]),
      { a: "é", b: "\ufffd" },
    ],
    ["a part in base64", "", form(['name="a"', "w6k=", "content-transfer-encoding: BASE64"]), { a: "é" }],
    ["a text that looks like a boundary", "", form(['name="a"', "x\r\n--bc\r\n--b c"]), { a: "x\r\n--bc\r\n--b c" }],
    ["names with quotes", "", form(['name="a%22\\"%2e"', "x"]), { 'a""%2e': "x" }],
  ])("of type multipart/form-data is read correctly with %s", async (_what, charset, bytes, expected) => {
    const { json } = await readHookBody(`multipart/form-data; boundary="b"${charset}`, bytes);
    expect(JSON.parse(json)).toEqual(expected);
  });

  it.each([
    ["\xc3\xa9.txt", "é.txt"],
    ["C:\\dir\\a.txt", "a.txt"],
    ["../../etc/passwd", "passwd"],
    ["..", ""],
    ["a\tb", "ab"],
    [`x"; filename*="UTF-8''%e2%82%ac.txt`, "€.txt"],
    [`x"; filename*="iso-8859-1'de'%e9.txt`, "é.txt"],
  ])("of type multipart/form-data turns the file name %j into %j", async (sent, name) => {
    const bytes = form([`name="f"; filename="${sent}"`, "x", "Content-Type: text/plain"]);
    const { json } = await readHookBody("multipart/form-data; boundary=b", bytes);
    expect(JSON.parse(json).f).toMatchObject({ name, type: "text/plain" });
  });

  it("is read as UTF-8 if the word `charset` only occurs inside the value of another parameter", async () => {
    const type = 'application/x-www-form-urlencoded; a="; charset=windows-1252"';
    expect((await readHookBody(type, Buffer.from("a=%C3%A9"))).json).toBe('{"a":"é"}');
  });

  it("is refused if it is a multipart form with more than a thousand fields", async () => {
    const form = new FormData();
    for (let index = 0; index < 1_001; index++) form.append("a", "b");
    const sent = new Response(form);
    const type = sent.headers.get("content-type") ?? "";
    await expect(readHookBody(type, Buffer.from(await sent.arrayBuffer()))).rejects.toThrow(/at most 1000 are taken/);
  });

  it("is refused if it is a URL-encoded form with more than a thousand fields", async () => {
    const body = Buffer.from("a=1&".repeat(1_001));
    await expect(readHookBody("application/x-www-form-urlencoded", body)).rejects.toThrow(/at most 1000 are taken/);
  });

  it.each(["application/pdf", "", "image/png"])("of type %j becomes a file with the same bytes", async (type) => {
    const bytes = Buffer.from([0, 255, 128]);
    const { json, files } = await readHookBody(type, bytes);
    expect(files).toMatchObject([
      { mark: JSON.parse(json), bytes: 3, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ]);
    expect(await buffer((files[0] as FileInPlace).open())).toEqual(bytes);
  });

  it.each([
    ["application/json", Buffer.from("{"), /not JSON/],
    ["application/json", Buffer.from(String.raw`{"a": ["\ud800"]}`), /half a character at \$\.a\[0\]/],
    ["application/json", Buffer.from([255]), /not UTF-8/],
    ["application/json", Buffer.from('{"a": 1, "a": 2}'), /"a".* - correct it/],
    ["text/plain", Buffer.from([255]), /not UTF-8/],
    ["text/plain; charset=klingon", Buffer.from("a"), /the charset "klingon", which is not known - send UTF-8/],
    ["text/plain; charset=shift_jis", Buffer.from([0x81]), /is no text in "shift_jis"/],
    ["application/x-www-form-urlencoded", Buffer.from("a=Andr%E9"), /a field of its form .* not UTF-8/],
    ["application/x-www-form-urlencoded; charset=klingon", Buffer.from("a=b"), /"klingon"/],
    ["multipart/form-data", Buffer.from("x"), /no multipart\/form-data/],
    ["multipart/form-data; boundary=b", Buffer.from("--b\r\nbroken"), /no multipart\/form-data/],
    ["multipart/form-data; boundary=b", form(['name="a"', "x"]).subarray(0, -12), /last boundary is missing/],
    ["multipart/form-data; boundary=b", form(['name="\xe9"', "x"]), /a name in its form is not UTF-8/],
    ["multipart/form-data; boundary=b", form(['name="a"; filename="\xe9"', "x"]), /the name of a file .* not UTF-8/],
    ["multipart/form-data; boundary=b", form(['name="a"', "x", "Content-Type: a/b; charset=klingon"]), /"klingon"/],
    ["multipart/form-data; boundary=b", form(['name="a"', "x", "Content-Transfer-Encoding: rot13"]), /"rot13"/],
    ["multipart/form-data; boundary=b", part('name="a"', Buffer.from([0x41, 0xe9])), /"a" of its form is not UTF-8/],
    ["multipart/form-data; boundary=b", part(`name="${"n".repeat(201)}"`, "x"), /more than 200 characters/],
    ["application/x-www-form-urlencoded", Buffer.from([255]), /not UTF-8/],
  ])("of type %s is refused if it is not valid", async (type, bytes, message) => {
    await expect(readHookBody(type, bytes)).rejects.toThrow(Refused);
    await expect(readHookBody(type, bytes)).rejects.toThrow(message);
  });
});

const json = '{"id": "evt_1", "data": {"n": 7, "flag": true}, "list": ["a"]}';
const request = { headers: { "x-delivery": "d-1", "x.y": "z" }, body: Buffer.from(json) };
const signature = { header: "x-signature", secret: "vendor", algorithm: "sha256" } as const;

describe("the id by which NOVA recognises repeated deliveries of a webhook", () => {
  it.each([
    ["headers.x-delivery", "d-1"],
    ["headers.x.y", "z"],
    ["body.id", "evt_1"],
    ["body.data.n", "7"],
    ["body.list.0", "a"],
  ])("is the value that the request has at %s", (dedupe, value) => {
    expect(dedupeIdOf({ dedupe }, request)).toBe(value);
  });

  it.each(["headers.x-other", "body.none", "body.data", "body.data.flag", "body.id.length", "body.constructor.name"])(
    "is a hash of the body if the request has no usable value at %s",
    (dedupe) => {
      const hash = dedupeIdOf({ dedupe }, request);
      expect(hash).toMatch(/^sha256:[0-9a-f]{64}$/);
      expect(dedupeIdOf({ dedupe }, { ...request, body: Buffer.from("other") })).not.toBe(hash);
    },
  );

  it.each([
    ["a number above 2^53", "820982911946154508", "820982911946154509"],
    ["a fraction of many digits", "0.12345678901234567890", "0.12345678901234567891"],
    ["a number above every double", "1e400", "2e400"],
  ])("has all digits even if it is %s", (_what, one, other) => {
    const ids = [one, other].map((id) =>
      dedupeIdOf({ dedupe: "body.id" }, { ...request, body: Buffer.from(`{"id": ${id}}`) }),
    );
    expect(ids).toEqual([one, other]);
  });

  it.each([
    ["body.id", '{"id":"","n":1}', '{"id":"","n":2}'],
    ["body.id", '{"id":" ","n":1}', '{"id":" ","n":2}'],
    ["headers.x-empty", '{"n":1}', '{"n":2}'],
  ])("is a hash of the body if %s is empty: %s", (dedupe, ...bodies) => {
    const headers = { "x-empty": "" };
    const [one, other] = bodies.map((json) => dedupeIdOf({ dedupe }, { headers, body: Buffer.from(json) }));
    expect([one, other]).toEqual([expect.stringMatching(/^sha256:/), expect.stringMatching(/^sha256:/)]);
    expect(one).not.toBe(other);
  });

  it("is a hash of the body if a signed request has its id only in a header, because headers are not signed", () => {
    const keys = ["d-1", "d-2"].map((id) =>
      dedupeIdOf({ dedupe: "headers.x-delivery", signature }, { ...request, headers: { "x-delivery": id } }),
    );
    expect(keys).toEqual([expect.stringMatching(/^sha256:/), keys[0]]);
    expect(dedupeIdOf({ dedupe: "body.id", signature }, request)).toBe("evt_1");
  });

  it.each([
    ["body.id", "id=f-1&n=2", "f-1"],
    ["body.list.1", "list=a&list=b", "b"],
    ["body.id", ' \n{"id":"a","id":"b"}', "b"],
    ["body.0.id", '[{"id":"l-1"}]', "l-1"],
    ["body.1.id", '[{"id":"l-1"}]', /^sha256:/],
    ["body.00.id", '[{"id":"l-1"}]', /^sha256:/],
    ["body.id", `{"id":"deep","x":${"[".repeat(20_000)}${"]".repeat(20_000)}}`, "deep"],
    ["body.id", Buffer.from([0xff, 0xfe]), /^sha256:/],
    ["body.id", "", /^sha256:/],
  ])("for the path %s and the body %s does not depend on the content-type", (dedupe, body, expected) => {
    const keys = ["application/json", "text/plain", "application/x-www-form-urlencoded"].map((type) =>
      dedupeIdOf({ dedupe, signature }, { headers: { "content-type": type }, body: Buffer.from(body) }),
    );
    const one = typeof expected === "string" ? expected : expect.stringMatching(expected);
    expect(keys).toEqual([one, keys[0], keys[0]]);
  });

  it("is a hash of the body if the path in the field `dedupe` leads into a number", () => {
    expect(dedupeIdOf({ dedupe: "body.data.n.rawJSON" }, request)).toMatch(/^sha256:/);
  });

  it("is new for each request if the webhook trigger has no field `dedupe`", () => {
    expect(dedupeIdOf({}, request)).not.toBe(dedupeIdOf({}, request));
  });
});

const text = Buffer.from('{"a": "grüß"}');

describe("the body of a webhook request with the content-encoding", () => {
  it.each([
    ["gzip", gzipSync(text)],
    ["X-GZIP", gzipSync(text)],
    ["deflate", deflateSync(text)],
    ["br", brotliCompressSync(text)],
    ["identity", text],
    ["", text],
  ])("%j is decoded", (encoding, bytes) => {
    expect(decompressBody(bytes, encoding)).toEqual(text);
  });

  it.each([
    ["zstd", text, /content-encoding "zstd" is not known - send gzip, deflate, br or none/],
    ["gzip, gzip", gzipSync(gzipSync(text)), /"gzip, gzip" is not known/],
    ["gzip", text, /is not encoded as "gzip" says - correct it/],
    ["br", gzipSync(text), /is not encoded as "br" says/],
    ["gzip", gzipSync(text).subarray(0, 20), /is not encoded as "gzip" says/],
    ["gzip", gzipSync(Buffer.alloc(100 * 1024 * 1024)), /more than 4194304 bytes once decoded - send less/],
  ])("%j is refused if it cannot be decoded", (encoding, bytes, message) => {
    expect(() => decompressBody(bytes, encoding)).toThrow(message);
  });
});
