import { execFileSync } from "node:child_process";
import { secretKeys } from "@nova/workflow";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { Context } from "../../../packages/engine/src/context/context.ts";
import { referenceText } from "../../../packages/engine/src/context/references.ts";
import { NovaError } from "../../../packages/engine/src/errors.ts";
import {
  mask,
  maskCredentials,
  Redactor,
  SecretFound,
  shownContext,
} from "../../../packages/engine/src/secrets/redactor.ts";
import { redactorFor } from "../../../packages/engine/src/secrets/secret-inputs.ts";
import { action, flow, lines } from "../../support/engine/flows.ts";
import { fails, Story, succeeds, wellTold } from "../../support/engine/story.ts";

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

describe("a secret in a text", () => {
  it.each(guaranteed)("is found and masked in this form: %s", (_form, text) => {
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

  it("stops a stream that contains the secret, also across two chunks, and stops no other stream", async () => {
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

  it("leaves no characters at the start of a shortened log, even in lines of base64", () => {
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

  it("is not found in data that does not contain it", () => {
    const text = '{"host": "db.example.com", "port": 993, "word": "password"}';
    expect(redactor.finds(text)).toBe(false);
    expect(redactor.mask(text)).toBe(text);
  });

  it("is ignored if it is so short that it would match everywhere", () => {
    expect(new Redactor(["abc", ""]).isIdle).toBe(true);
  });
});

describe("the secret inputs of a workflow", () => {
  const workflow = {
    inputs: { properties: { token: { secret: true }, login: { secret: true }, name: { type: "string" } } },
  };
  const keys = secretKeys(workflow);
  const context = new Context([
    { key: "token", json: '"tok-12345"', by: 0 },
    { key: "login", json: '{"user": "ada@x", "pins": ["pin-1", 7]}', by: 0 },
    { key: "name", json: '"Ada"', by: 0 },
  ]);

  it("are the keys that the input schema marks as secret", () => {
    expect(Array.from(keys)).toEqual(["token", "login"]);
    expect(secretKeys({})).toEqual(new Set());
  });

  it("are recognised in a text by every string inside their values", async () => {
    const known = await redactorFor(keys, context, () => Promise.reject(new RangeError("there is no blob in here")));
    const texts = ["tok-12345", "ada@x", "pin-1", "Ada"];
    expect(texts.map((text) => known.finds(text))).toEqual([true, true, true, false]);
  });

  it("are recognised in a text by the bytes, numbers and keys inside their values, except keys that are plain names", async () => {
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

  it("are masked in a context that is shown to people", () => {
    const shown = JSON.parse(shownContext(context.slots(), keys).text);
    expect(Object.values(shown)).toEqual(["***", "***", "Ada"]);
  });

  it("are all keys of the context if the definition is unknown", () => {
    const shown = JSON.parse(shownContext(context.slots(), null).text);
    expect(Object.values(shown)).toEqual(["***", "***", "***"]);
  });
});

async function* chunks(...parts: Uint8Array[]) {
  yield* parts;
}

describe("the masked text of a growing log", () => {
  const pin = "4711-pin";
  const growing = new Redactor([secret, pin]);
  /** Returns the texts that a reader gets who reads the log after each of `pieces`. */
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

  it("shows no part of a secret at any length of the log, and equals the masked log at the end", () => {
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

  it("leaves out the last characters of the log as long as these may be the start of a secret or half a character", () => {
    const euro = Buffer.from("€");
    expect(seen([Buffer.from("key p4ss")])).toBe("key ");
    expect(seen([Buffer.from("key p4ss"), Buffer.from("age\n")])).toBe("key p4ssage\n");
    expect(seen([Buffer.concat([Buffer.from("5 "), euro.subarray(0, 2)])])).toBe("5 ");
  });

  it("masks the end of a secret whose start was dropped from the log", () => {
    const tail = Buffer.from(`${secret.slice(3)} is it\n`);
    expect(growing.maskGrowing(tail, { shown: 0, isCut: true }).text).toBe("*** is it\n");
  });

  it("is empty as long as the secrets are unknown", () => {
    expect(new Redactor(null).maskGrowing(Buffer.from("a\n"), { shown: 0, isCut: false })).toEqual({
      text: "",
      shown: 0,
    });
  });
});

const variables = {
  OPENAI_API_KEY: "sk-proj-Abc/def+123==",
  E2B_API_KEY: "e2b_0123456789abcdef",
  AWS_SECRET_ACCESS_KEY: "wJalrXUtnFEMI/K7MDENG",
  AWS_SESSION_TOKEN: "IQoJb3JpZ2luX2VjEJr",
  PROVIDER_SECRET: "s3cret-of-a-webhook",
  HTTPS_PROXY: "http://ada:correct-horse@proxy.example.com:3128",
};

describe("an error message of this process", () => {
  it.each(Object.entries({ ...variables, HTTPS_PROXY: "correct-horse" }))(
    "does not show the value of the environment variable %s",
    (_, credential) => {
      const spellings = [
        credential,
        encodeURIComponent(credential).replaceAll(/%../g, (one) => one.toLowerCase()),
        btoa(`x:${credential}`),
      ];
      const said = spellings.map((one) => maskCredentials(`the key ${one} is refused`, variables));
      expect(said[0]).toBe("the key *** is refused");
      for (const [index, spelling] of spellings.entries()) expect(said[index]).not.toContain(spelling);
    },
  );

  it("still shows values of environment variables that are key names, paths of key files or short texts", () => {
    const others = {
      NOVA_SIGNING_KMS_KEY: "12345678-1234-1234-1234-123456789012",
      ROLE_KEY: "arn:aws:kms:eu-west-1:1:key/a",
      SSH_KEY: "/home/ada/.ssh/id_rsa",
      NOVA_RATE_PER_KEY: "100000000",
      TEST_TOKEN: "local",
      HOME: "/home/ada/long/enough",
    };
    const text = Object.values(others).join(" ");
    expect(maskCredentials(text, others)).toBe(text);
  });

  it("masks the value of a key that is added to the environment later", () => {
    process.env.LATER_API_KEY = "later-than-the-first-message";
    try {
      const { message } = new NovaError("SandboxUnavailable", "401 for later-than-the-first-message");
      expect(message).toBe("401 for ***");
    } finally {
      delete process.env.LATER_API_KEY;
    }
  });
});

const half = "pa55\ud800word";
/** This value is nested too deeply for any recursive function. */
const deep = `${'["s3cr3t",'.repeat(20_000)}1${"]".repeat(20_000)}`;

const keys = new Set(["key"]);
const contextOf = (json: string) => new Context([{ key: "key", json, by: 0 }]);
const noBlob = () => Promise.reject(new RangeError("there is no blob in here"));

describe("a secret that contains half a surrogate pair", () => {
  it.each([half, "\udc00abcd", "abcd\ud800"])("is found and masked like any other text: %j", (secret) => {
    const redactor = new Redactor([secret]);
    expect(redactor.mask(`it is ${secret}!`)).toBe(`it is ${mask}!`);
    expect(redactor.finds(JSON.stringify({ said: secret }))).toBe(true);
    expect(redactor.finds("pa55 word abc")).toBe(false);
  });
});

describe("the secrets of a run that cannot be read", () => {
  it("count as every possible text, so that no result of code is stored", async () => {
    const redactor = await redactorFor(keys, contextOf(deep), noBlob);
    expect(redactor.finds("anything")).toBe(true);
    expect([redactor.isIdle, redactor.finds("anything"), redactor.finds("")]).toEqual([false, true, true]);
    expect([redactor.mask("KeyError"), redactor.maskTail("a log"), redactor.mask("")]).toEqual([mask, mask, ""]);
  });

  it("stop every stream, because any text may be secret", async () => {
    let found = 0;
    const refused = new Redactor(null).refuse(chunks(Buffer.from("some")), () => found++);
    await expect(Array.fromAsync(refused)).rejects.toThrow(SecretFound);
    expect(found).toBe(1);
  });

  it("include the secrets in a blob that is not valid JSON, but a failure to read a blob is an error", async () => {
    const blob = referenceText({ sha256: "a".repeat(64), bytes: 9, type: "json" });
    const read = async () => Buffer.from("{no json");
    expect(await redactorFor(keys, contextOf(blob), read)).toBeInstanceOf(Redactor);
    await expect(redactorFor(keys, contextOf(blob), noBlob)).rejects.toThrow("there is no blob in here");
  });
});

describe("a run with half a surrogate pair in a secret input", () => {
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

/** Ranges of characters that this process escapes in the same way as every version of Python. */
const ranges: [number, number][] = [
  [0x00, 0x2ff],
  [0x2000, 0x2064],
  [0xd800, 0xf8ff],
  [0xfe00, 0xfe0f],
  [0x1f300, 0x1f5ff],
  [0xe0020, 0xe007f],
  [0x10fff0, 0x10ffff],
];
const letter = fc.oneof(
  fc.constantFrom("'", '"', "\\", "\n", "\r", "\t", "\u007f", "\u00a0", "\u00ad", "\u001b", "\u200b", "ü", "a"),
  ...ranges.map(([min, max]) => fc.integer({ min, max }).map((point) => String.fromCodePoint(point))),
);
const texts = fc
  .sample(fc.array(letter, { minLength: 4, maxLength: 12 }), { numRuns: 2000, seed: 20_260_101 })
  .map((letters) => letters.join(""));

const program = `
import json, sys
def forms(text):
    whole = text.encode("utf-8", "replace") if any("\\ud800" <= c <= "\\udfff" for c in text) else text.encode()
    yield repr(text)
    yield ascii(text)
    if whole == text.encode("utf-8", "surrogatepass"): yield repr(whole)[1:]
    yield json.dumps(text)
    yield json.dumps(repr(text))[1:-1]
    yield json.dumps(ascii(text), ensure_ascii=False)[1:-1]
print(json.dumps([list(forms(text)) for text in json.load(sys.stdin)]))
`;

const python = (given: readonly string[]): string[][] =>
  JSON.parse(
    execFileSync("python3", ["-c", program], { input: JSON.stringify(given), maxBuffer: 64 * 1024 * 1024 }).toString(),
  );

describe("a secret in the form in which Python prints it", () => {
  it("is found and masked completely in every text of repr, ascii and json.dumps", { tags: ["deep"] }, () => {
    const missed = python(texts).flatMap((forms, index) => {
      const redactor = new Redactor([texts[index] as string]);
      // Only the quotes may remain around the mask.
      return forms.filter((form) => !isMasked(redactor.mask(form)));
    });
    expect(missed.slice(0, 5)).toEqual([]);
  });

  it.each([
    ["geh\u00adeim123", "KeyError: 'geh\\xadeim123'"],
    ["pass\u00a0word1", "KeyError: 'pass\\xa0word1'"],
    ["Grüße-1234", "UnicodeError: 'Gr\\xfc\\xdfe-1234'"],
    ["esc\u001b[0mape", "'esc\\x1b[0mape'"],
    ["zero\u200bwidth", "'zero\\u200bwidth'"],
    ["tag\u{e0041}ged", "'tag\\U000e0041ged'"],
    ["del\u007feted", '"del\\u007feted"'],
  ])("of %j is masked in %s, and in JSON that contains it", (secret, said) => {
    const redactor = new Redactor([secret]);
    expect(redactor.mask(said)).toContain(mask);
    expect(redactor.mask(JSON.stringify({ said }))).toContain(mask);
  });
});

function isMasked(text: string): boolean {
  return /^\\?["'](\*\*\*)\\?["']$/.test(text);
}
