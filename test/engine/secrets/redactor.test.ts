import { secretKeys } from "@nova/workflow";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { Context } from "../../../packages/engine/src/context/context.ts";
import { Redactor, SecretFound } from "../../../packages/engine/src/secrets/redactor.ts";
import { redactorFor } from "../../../packages/engine/src/secrets/secret-inputs.ts";
import { shownContext } from "../../../packages/engine/src/secrets/shown-context.ts";

const secret = 'p4ss"wörd/é+';
const redactor = new Redactor([secret]);
const bytes = Buffer.from(secret);

const guaranteed: [form: string, text: string][] = [
  ["plain", `login with ${secret}!`],
  ["JSON-escaped", JSON.stringify({ login: secret })],
  ["JSON-escaped, ASCII only", `{"login": "p4ss\\"w\\u00f6rd/\\u00e9+"}`],
  ["URL-encoded", `https://host/?key=${encodeURIComponent(secret)}`],
  ["hex", `0x${bytes.toString("hex")}`],
  ["upper-case hex", bytes.toString("hex").toUpperCase()],
  ...[0, 1, 2].flatMap((offset): [string, string][] => {
    const inside = Buffer.concat([Buffer.from("abc".slice(0, offset)), bytes, Buffer.from("xyz")]);
    return [
      [`base64 at offset ${offset}`, inside.toString("base64")],
      [`base64url at offset ${offset}`, inside.toString("base64url")],
    ];
  }),
];

describe("a secret", () => {
  it.each(guaranteed)("is found and masked: %s", (_form, text) => {
    expect(redactor.finds(text)).toBe(true);
    expect(redactor.finds(redactor.mask(text))).toBe(false);
    expect(redactor.mask(text)).toContain("***");
  });

  it.each(['abc"def123', "pässwörd-1", "dom\\user77", "line1\nline2x"])(
    "is found in a JSON value in every form that code may write: %j",
    (odd) => {
      const finder = new Redactor([odd]);
      const asAscii = (text: string) =>
        JSON.stringify(text).replace(/[\u0080-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
      const put = [odd, JSON.stringify(odd), JSON.stringify({ a: odd }), asAscii(odd), encodeURIComponent(odd)];
      for (const value of put)
        for (const kept of [JSON.stringify({ kept: value }), asAscii(value)]) {
          expect(finder.finds(kept), kept).toBe(true);
          expect(finder.finds(finder.mask(kept)), kept).toBe(false);
        }
    },
  );

  it("stops a stream, also across two chunks, and other streams pass unchanged", async () => {
    const body = Buffer.from(`${"x".repeat(50)}${secret}${"y".repeat(50)}`);
    for (const cut of [10, 53, 57, 60, 100]) {
      const onFound = vi.fn();
      const stopped = redactor.refuse(chunks(body.subarray(0, cut), body.subarray(cut)), onFound);
      await expect(Array.fromAsync(stopped)).rejects.toThrow(SecretFound);
      expect(onFound).toHaveBeenCalledOnce();
      const honest = redactor.refuse(chunks(body.subarray(0, 53), body.subarray(58)), onFound);
      expect(Buffer.concat(await Array.fromAsync(honest)).length).toBe(body.length - 5);
      expect(onFound).toHaveBeenCalledOnce();
    }
  });

  it("leaves no part at the start of a cut log, also in lines of base64", () => {
    const key = new Redactor([`-----BEGIN-----\n${"0123456789abcdef".repeat(20)}\n-----END-----`]);
    const encoded = Buffer.from(`??-----BEGIN-----\n${"0123456789abcdef".repeat(20)}\n-----END-----!!!`).toString(
      "base64",
    );
    const log = `${encoded.replace(/.{76}/g, "$&\n")}\nthe rest`;
    for (let cut = 1; cut < log.length - 24; cut++)
      expect(key.maskTail(log.slice(cut))).toMatch(/^.{0,3}\*\*\*.{0,8}\nthe rest$/);
  });

  it("is masked together with an overlapping secret", () => {
    const both = new Redactor(["abcdef", "defghi", "ghijkl"]);
    expect(both.mask("-abcdefghijkl-")).toBe("-***-");
  });

  it("leaves honest data unchanged", () => {
    const text = '{"host": "db.example.com", "port": 993, "word": "password"}';
    expect(redactor.finds(text)).toBe(false);
    expect(redactor.mask(text)).toBe(text);
  });

  it("is ignored if it is so short that it would match everywhere", () => {
    expect(new Redactor(["abc", ""]).isIdle).toBe(true);
  });
});

describe("secret inputs", () => {
  const workflow = {
    inputs: { properties: { token: { secret: true }, login: { secret: true }, name: { type: "string" } } },
  };
  const keys = secretKeys(workflow);
  const context = new Context([
    { key: "token", json: '"tok-12345"', by: 0 },
    { key: "login", json: '{"user": "ada@x", "pins": ["pin-1", 7]}', by: 0 },
    { key: "name", json: '"Ada"', by: 0 },
  ]);

  it("are the keys that the definition marks", () => {
    expect(Array.from(keys)).toEqual(["token", "login"]);
    expect(secretKeys({})).toEqual(new Set());
  });

  it("are recognised by every string inside them", async () => {
    const known = await redactorFor(keys, context, () => Promise.reject(new RangeError("there is no blob in here")));
    const texts = ["tok-12345", "ada@x", "pin-1", "Ada"];
    expect(texts.map((text) => known.finds(text))).toEqual([true, true, true, false]);
  });

  it("are recognised by bytes, numbers and keys inside them, except keys that are names", async () => {
    const picture = Buffer.from("00ff10fe20fd30fc", "hex");
    const sha256 = "a".repeat(64);
    const account = {
      client_email: 1,
      auth_provider_x509_cert_url: 2,
      "ada@example.com": { "4111111111111111": 7.25e5 },
    };
    const odd = new Context([
      { key: "token", json: JSON.stringify({ $blob: { sha256, bytes: 8, type: "bytes" } }), by: 0 },
      { key: "login", json: JSON.stringify(account), by: 0 },
    ]);
    const known = await redactorFor(keys, odd, async () => picture);
    const secret = [
      picture.toString("hex"),
      picture.toString("base64"),
      "b'\\x00\\xff\\x10\\xfe \\xfd0\\xfc'",
      "725,000.00",
    ];
    const texts = [...secret, "ada@example.com", "4111111111111111", "client_email", "auth_provider_x509_cert_url"];
    expect(texts.map((text) => known.finds(text))).toEqual([true, true, true, true, true, true, false, false]);
    const stopped = known.refuse(chunks(Buffer.concat([Buffer.from("abc"), picture])), () => undefined);
    await expect(Array.fromAsync(stopped)).rejects.toThrow(SecretFound);
  });

  it("are masked in a context for people", () => {
    const shown = JSON.parse(shownContext(context.slots(), keys).text);
    expect(Object.values(shown)).toEqual(["***", "***", "Ada"]);
  });

  it("are all keys if the definition is unknown", () => {
    const shown = JSON.parse(shownContext(context.slots(), null).text);
    expect(Object.values(shown)).toEqual(["***", "***", "***"]);
  });
});

async function* chunks(...parts: Uint8Array[]) {
  yield* parts;
}

describe("a growing text", () => {
  const pin = "4711-pin";
  const growing = new Redactor([secret, pin]);
  /** The text that a reader sees who reads after each of `pieces`. */
  const seen = (pieces: readonly Buffer[]) => {
    let [tail, shown, all] = [Buffer.alloc(0), 0, ""];
    for (const piece of pieces) {
      tail = Buffer.concat([tail, piece]);
      const next = growing.maskGrowing(tail, { shown, isCut: false });
      shown = next.shown;
      all += next.text;
    }
    return all;
  };

  it("shows no part of a secret at any cut, and in the end the same text as its log", () => {
    const word = fc.constantFrom(secret, pin, "p4s", "4711", "é", "ok ", "\n");
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), fc.array(fc.nat({ max: 60 }), { maxLength: 6 }), (words, cuts) => {
        const whole = Buffer.from(`${words.join("")}.\n`);
        const at = [0, ...cuts.map((cut) => Math.min(cut, whole.length)).sort((a, b) => a - b), whole.length];
        const pieces = at.slice(1).map((end, i) => whole.subarray(at[i], end));
        expect(seen(pieces)).toBe(growing.mask(whole.toString()));
      }),
    );
  });

  it("holds back the possible start of a secret or a character", () => {
    const euro = Buffer.from("€");
    expect(seen([Buffer.from("key p4ss")])).toBe("key ");
    expect(seen([Buffer.from("key p4ss"), Buffer.from("age\n")])).toBe("key p4ssage\n");
    expect(seen([Buffer.concat([Buffer.from("5 "), euro.subarray(0, 2)])])).toBe("5 ");
  });

  it("masks the end of a secret whose start is no longer stored", () => {
    const tail = Buffer.from(`${secret.slice(3)} is it\n`);
    expect(growing.maskGrowing(tail, { shown: 0, isCut: true }).text).toBe("*** is it\n");
  });

  it("is empty if the secrets are unknown", () => {
    expect(new Redactor(null).maskGrowing(Buffer.from("a\n"), { shown: 0, isCut: false })).toEqual({
      text: "",
      shown: 0,
    });
  });
});
