import { RawJson, renderJson } from "@nova/engine";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Misfit, parse } from "../../../../functions/api/http/errors.ts";
import { credentialsIn, type HttpEvent, idempotencyKeyIn, receive } from "../../../../functions/api/http/event.ts";
import { render } from "../../../../functions/api/http/problem.ts";
import { readBody, refuseLarge } from "../../../../functions/api/http/read-body.ts";
import { corsHeaders, preflight } from "../../../../functions/api/index.ts";
import { Moment, Name, Slug, WorkflowId } from "../../../../functions/api/schemas/values.ts";

const base: HttpEvent = {
  version: "2.0",
  rawPath: "/x",
  rawQueryString: "",
  headers: {},
  requestContext: { http: { method: "GET", path: "/x" } },
  isBase64Encoded: false,
};

describe("the API key of a request", () => {
  it.each([
    [{ authorization: "Bearer abc" }, "abc"],
    [{ authorization: "bearer   abc " }, "abc"],
    [{ "x-api-key": " abc " }, "abc"],
    [{ authorization: "Bearer abc", "x-api-key": "def" }, "abc"],
    [{ authorization: "Basic abc", "x-api-key": "def" }, "def"],
    [{ authorization: "Bearer a b" }, undefined],
    [{ authorization: "abc" }, undefined],
    [{}, undefined],
  ])("in the headers %j is %j", (headers, key) => {
    expect(credentialsIn(headers)).toBe(key);
  });
});

describe("an Idempotency-Key", () => {
  it.each([undefined, "a", "two words", "~".repeat(255)])("can be %j", (key) => {
    expect(idempotencyKeyIn({ "idempotency-key": key })).toBe(key);
  });

  it.each(["", " a", "a\n", "\u00fc", "a".repeat(256)])("cannot be %j", (key) => {
    expect(() => idempotencyKeyIn({ "idempotency-key": key })).toThrow(/1 to 255 printable/);
  });
});

describe("the text of a request's body", () => {
  it.each([
    ['{"a": {"b": [1]}}', true],
    [`${"[".repeat(501)}${"]".repeat(501)}`, true],
    ["[".repeat(502), false],
    [`["${"[".repeat(600)}"]`, true],
    ['["\\"[[", "\\\\"]', true],
    [`{${'"a":1,'.repeat(100_000)}}`, true],
    [`{${'"a":1,'.repeat(100_001)}}`, false],
    [`["${":".repeat(200_000)}"]`, true],
    [`"${"x".repeat(4 * 1024 * 1024 - 2)}"`, true],
    [`"${"x".repeat(4 * 1024 * 1024 - 1)}"`, false],
    [`"${"\u00e4".repeat(2 * 1024 * 1024)}"`, false],
    ['{"open', true],
  ])("%.30j is within the limits: %j", (text, fits) => {
    const refused = () => refuseLarge(text);
    if (fits) expect(refused).not.toThrow();
    else expect(refused).toThrow(/at most/);
  });

  it("stays unchanged in the named fields, so that the numbers there stay exact, and is parsed in all other fields", () => {
    const text = '{"context": {"n": 850.0, "n2": 12345678901234567890}, "version": 1.0}';
    const value = readBody({ text, headers: {} }, ["context", "data"]);
    expect(value).toEqual({ context: new RawJson('{"n": 850.0, "n2": 12345678901234567890}'), version: 1 });
    expect(renderJson(value)).toContain('"n2": 12345678901234567890');
  });

  it.each(['{"context": {"a": 1}, "context": {"a": 2.0}}', '{"context": {"a": 1, "\\u0061": 2}}'])(
    "is refused if an object has the same name twice: %s",
    (text) => {
      expect(() => readBody({ text, headers: {} }, ["context"])).toThrow(
        /^the body has the field "[^"]+" twice in one object/,
      );
    },
  );

  it.each([
    [500, "is accepted"],
    [501, "the body is nested 502 levels deep, at most 501 are taken - make it flatter"],
  ])("with a context of %i levels has the result: %s", (levels, sentence) => {
    const text = `{"context": ${'{"a":'.repeat(levels)}1${"}".repeat(levels)}}`;
    const read = () => readBody({ text, headers: {} }, ["context"]);
    if (sentence === "is accepted") expect(read()).toHaveProperty("context");
    else expect(read).toThrow(sentence);
  });

  it.each(["[1]", "null", "5", '"text"'])("that contains %s instead of an object is parsed completely", (text) => {
    expect(readBody({ text, headers: {} }, ["context"])).toEqual(JSON.parse(text));
  });
});

describe("a received request", () => {
  it("has path values that are decoded once, and path values that stay unchanged because they are not UTF-8", () => {
    const pathParameters = { id: "a%20b", twice: "%2541", broken: "%E0%A4%A" };
    const { params } = receive({ ...base, pathParameters });
    expect(params).toEqual({ id: "a b", twice: "%41", broken: "%E0%A4%A" });
  });

  it.each([
    ["a=1&a=2", '"a"'],
    ["limit=1&client=x&limit=1", '"limit"'],
    ["%61=1&a", '"a"'],
  ])("refuses a parameter that occurs twice: %s", (rawQueryString, name) => {
    const message = `the query has the parameter ${name} more than once - send it once`;
    expect(() => receive({ ...base, rawQueryString }).query).toThrow(expect.objectContaining({ status: 400, message }));
  });

  it("has a decoded query and a body as text", () => {
    const body = Buffer.from('{"\u00e4": 1}').toString("base64");
    const received = receive({ ...base, rawQueryString: "a=1&b=%C3%A4&c", body, isBase64Encoded: true });
    expect(received.query).toEqual({ a: "1", b: "\u00e4", c: "" });
    expect(received.text).toBe('{"\u00e4": 1}');
    expect(receive(base).text).toBe("");
  });
});

describe("a value that does not fit a schema", () => {
  const schema = z.strictObject({ a: z.int(), list: z.array(z.string()) });

  it("is reported with the path of each misfit", () => {
    const wrong = () => parse(schema, { a: 1.5, list: ["x", 2] }, "the body", 422);
    expect(wrong).toThrow(/^the body does not fit: \$\.a: .*; \$\.list\.1: /);
  });

  it("is reported with at most twenty misfits, even if it has more", () => {
    const wrong = { a: 1, list: Array(100).fill(1) };
    const errors = () => parse(schema, wrong, "the body", 422);
    expect(errors).toThrow(expect.objectContaining({ status: 422, errors: expect.objectContaining({ length: 20 }) }));
  });
});

describe("an answer of the API", () => {
  it("contains numbers exactly as NOVA stores them", () => {
    const { body } = render({ status: 200, body: { n: new RawJson("850.0"), none: undefined } });
    expect(body).toBe('{"n":850.0}');
  });

  it.each([
    ["small", '"'.repeat(1_000), undefined],
    ["full of quotes, too large for a Lambda when escaped", '"'.repeat(2_000_000), true],
  ])("that is %s fits into the response of a Lambda unchanged", (_what, value, isBase64Encoded) => {
    const answer = render({ status: 200, body: { value } });
    expect(answer.isBase64Encoded).toBe(isBase64Encoded);
    expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThan(6 * 1024 * 1024);
    const text = Buffer.from(answer.body ?? "", isBase64Encoded ? "base64" : "utf8").toString();
    expect(JSON.parse(text)).toEqual({ value });
  });

  it("without a body has no content type", () => {
    const { body, headers } = render({ status: 204, headers: { location: "/x" } });
    expect([body, headers["content-type"], headers.location]).toEqual([undefined, undefined, "/x"]);
  });
});

describe("a web page of another origin", () => {
  const asking = (origin?: string) => ({ ...base, headers: { origin } });
  const readable = { "access-control-expose-headers": "etag, location, retry-after" };
  const own = { "access-control-allow-origin": "https://a.example.com", vary: "origin" };

  it.each([
    [[], "https://a.example.com", {}],
    [["https://a.example.com"], undefined, {}],
    [["*"], "https://a.example.com", { "access-control-allow-origin": "*", ...readable }],
    [["https://a.example.com"], "https://a.example.com", { ...own, ...readable }],
    [["https://b.example.com"], "https://a.example.com", { vary: "origin" }],
  ])("with the permitted origins %j and the origin %j gets the headers %j", (origins, origin, headers) => {
    expect(corsHeaders(origins, asking(origin))).toEqual(headers);
  });

  it("gets an answer to a preflight only if the preflight names the method of its request and the origin is permitted", () => {
    const http = { method: "OPTIONS", path: "/x" };
    const options = { ...base, requestContext: { http }, headers: { origin: "https://a.example.com" } };
    expect(preflight(["*"], options)).toBeUndefined();
    const before = { ...options, headers: { ...options.headers, "access-control-request-method": "PUT" } };
    expect(preflight(["*"], before)).toMatchObject({ statusCode: 204 });
    expect(preflight([], before)).toBeUndefined();
  });
});

/**
 * Returns the messages about a value that does not fit the schema, joined by semicolons. Returns an empty text if it
 * fits.
 */
function said(schema: z.ZodType, value: unknown): string {
  try {
    parse(schema, value, "the body", 422);
  } catch (error) {
    if (error instanceof Misfit) return error.errors.map(({ message }) => message).join("; ");
    throw error;
  }
  return "";
}

describe("the message about a value that does not fit its schema", () => {
  it.each([
    ["a missing field", z.object({ name: z.string() }), {}, "it is missing - send a text"],
    ["a missing list", z.object({ a: z.array(z.int()) }), {}, "it is missing - send a list"],
    ["a text for a number", z.number(), "5544", "it has to be a number, not a text"],
    ["a text for a whole number", z.int(), "5544", "it has to be a number, not a text"],
    ["a list for an object", z.object({}), [], "it has to be an object, not a list"],
    ["a number for a text", z.string(), 1, "it has to be a text, not a number"],
    ["a fraction", z.int(), 1.5, "it has to be a whole number, not a fraction"],
    ["null for an object", z.object({}), null, "it has to be an object, not null"],
    ["null for a flag", z.boolean(), null, "it has to be true or false, not null"],
    ["an unknown field", z.strictObject({}), { clinet: 1 }, '"clinet" is not known here - correct or remove it'],
    ["a word that is not allowed", z.enum(["a", "b"]), "c", 'it has to be "a" or "b"'],
    ["too small a number", z.number().min(1), 0, "it has to be at least 1"],
    ["too large a number", z.number().max(9), 10, "it has to be at most 9"],
    ["an empty text", z.string().min(1), "", "it has to be at least 1 characters long"],
    ["too long a text", z.string().max(2), "abc", "it has to be at most 2 characters long"],
    ["too long a list", z.array(z.int()).max(1), [1, 2], "it has to be a list of at most 1"],
    ["a text that is no mail address", z.email(), "x", "it has to be a mail address"],
    ["a text that is no time", z.iso.datetime(), "x", "it has to be a time, such as 2026-11-22T09:30:00Z"],
    [
      "a text in another format",
      z.string().regex(/^a$/),
      "b",
      "it has another form than GET /openapi.json shows - correct it",
    ],
    [
      "an invalid name",
      z.record(WorkflowId, z.int()),
      { "Bad Id": 1 },
      'its name does not fit: it has to be lower-case letters, digits and dashes, at most 64, with no dash first - such as "bad-id"',
    ],
  ])("describes %s", (_what, schema, value, message) => {
    expect(said(schema, value)).toBe(message);
  });

  it("is the schema's own message if it has one", () => {
    expect(said(z.string("only a text will do"), 1)).toBe("only a text will do");
  });

  it.each([
    [Slug, "Bad Slug", /lower-case letters, digits and dashes, at most 63/],
    [WorkflowId, "-a", /at most 64, with no dash first/],
    [Name, "\u001b[2J", /1 to 200 characters/],
    [Moment, "yesterday", /a date or a time with its zone, such as 2026-11-22 or/],
  ])("does not show the regular expression of the schema (%#)", (schema, value, message) => {
    expect(said(schema, value)).toMatch(message);
    expect(said(schema, value)).not.toMatch(/pattern|Invalid|\^/);
  });
});
