// @module-tag deep
import { execFileSync } from "node:child_process";
import { readTrace } from "@nova/engine";
import { beforeAll, describe, expect, it } from "vitest";
import type { Secret } from "../../../packages/engine/src/secrets/forms.ts";
import { Redactor, SecretFound } from "../../../packages/engine/src/secrets/redactor.ts";
import { action, flow, lines, prompted } from "../../support/engine/flows.ts";
import type { Script } from "../../support/engine/harness.ts";
import { PromptStory } from "../../support/engine/prompt-story.ts";
import { atOnce } from "../../support/engine/scheduler.ts";
import { scriptedMinds } from "../../support/engine/scripted-minds.ts";
import { fails, Story } from "../../support/engine/story.ts";

/**
 * Python code that writes a value in all forms that Python and its libraries have, because NOVA must mask each form.
 */
const program = `
import base64, binascii, html, json, sys, urllib.parse
from html.entities import codepoint2name
from xml.sax.saxutils import escape, quoteattr
from decimal import Decimal

def of_text(s):
    b = s.encode()
    return {
        "plain": s, "json.dumps": json.dumps(s), "json.dumps, every character": json.dumps(s, ensure_ascii=False),
        "repr": repr(s), "ascii": ascii(s), "repr of bytes": repr(b), "a KeyError": str(KeyError(s)),
        "repr of json.dumps": repr(json.dumps(s)), "json.dumps of json.dumps": json.dumps(json.dumps(s)),
        "json.dumps of repr": json.dumps(repr(s)), "repr of repr": repr(repr(s)),
        "repr of json.dumps of an object": repr(json.dumps({"a": [s]})), "json.dumps of an exception": json.dumps(repr(ValueError(s))),
        "an object's key": json.dumps({s: 1}), "quote": urllib.parse.quote(s), "quote_plus": urllib.parse.quote_plus(s),
        "quote, no slash": urllib.parse.quote(s, safe=""), "an https address": "https://" + urllib.parse.quote(s, safe="") + "@host/",
        "hex": b.hex(), "HEX": b.hex().upper(), "hexlify": repr(binascii.hexlify(b)),
        **in_base64(b), **in_urls(s), **in_markup(s),
    }

def in_urls(s):
    whole = "".join("%%%02x" % byte for byte in s.encode())
    mixed = "".join(c.upper() if i % 3 else c for i, c in enumerate(whole))
    found = {
        "quote, small": lower(urllib.parse.quote(s, safe="")), "quote_plus, small": lower(urllib.parse.quote_plus(s)),
        "every byte in percent": whole, "every byte in PERCENT": whole.upper(), "every byte in mixed percent": mixed,
        "a part in percent": "%" + "%02x" % ord(s[0]) + urllib.parse.quote(s[1:], safe="!()*'~/+"),
        "quote twice": urllib.parse.quote(urllib.parse.quote(s)), "quote three times": urllib.parse.quote(urllib.parse.quote(urllib.parse.quote(s))),
        "quote of json.dumps": urllib.parse.quote(json.dumps(s)), "json.dumps of quote": json.dumps(urllib.parse.quote(s)),
        "urlencode": urllib.parse.urlencode({"a": s}), "escape of JavaScript": "".join(c if c.isalnum() and ord(c) < 128 else in_script(c) for c in s),
        "base64 in a URL": urllib.parse.quote(base64.b64encode(s.encode()).decode(), safe=""),
    }
    if all(ord(c) < 256 for c in s):
        found["quote of Latin-1"] = urllib.parse.quote(s, encoding="latin-1")
    return found

def lower(text):
    import re
    return re.sub("%..", lambda found: found[0].lower(), text)

def in_script(c):
    return "%%%02X" % ord(c) if ord(c) < 256 else "".join("%%u%04X" % unit for unit in [int.from_bytes(c.encode("utf-16-be")[i:i + 2], "big") for i in range(0, len(c.encode("utf-16-be")), 2)])

def in_markup(s):
    ascii_only = lambda text: text.encode("ascii", "xmlcharrefreplace").decode()
    return {
        "html.escape": html.escape(s), "html.escape, no quotes": html.escape(s, quote=False), "in XML": escape(s), "an attribute": quoteattr(s),
        "html.escape twice": html.escape(html.escape(s)), "html in a URL": urllib.parse.quote(html.escape(s)), "a URL in html": html.escape(urllib.parse.quote(s)),
        "html of json.dumps": html.escape(json.dumps(s)), "json.dumps of html": json.dumps(html.escape(s)), "repr of html": repr(html.escape(s)),
        "html in ASCII": ascii_only(html.escape(s)), "decimal": "".join("&#%d;" % ord(c) for c in s), "hexadecimal": "".join("&#x%x;" % ord(c) for c in s),
        "HEXADECIMAL with zeros": "".join("&#X%07X;" % ord(c) for c in s), "decimal with zeros": "".join("&#%07d;" % ord(c) for c in s),
        "names": "".join("&%s;" % codepoint2name[ord(c)] if ord(c) in codepoint2name else c for c in s),
        "JSON for a script": json.dumps(s).replace("&", "\\\\u0026").replace("<", "\\\\u003c").replace(">", "\\\\u003E"),
        "JSON, all escaped": "".join("\\\\u%04x" % int.from_bytes(s.encode("utf-16-be")[i:i + 2], "big") for i in range(0, len(s.encode("utf-16-be")), 2)),
    }

def in_base64(b):
    found = {}
    for n in (0, 1, 2, 40, 41, 42, 55, 57):
        around = b"?" * n + b + b"!" * 9
        found[f"base64 behind {n}"] = base64.b64encode(around).decode()
        found[f"urlsafe base64 behind {n}"] = base64.urlsafe_b64encode(around).decode()
        found[f"encodebytes behind {n}"] = base64.encodebytes(around).decode()
        found[f"repr of encodebytes behind {n}"] = repr(base64.encodebytes(around))
        found[f"json.dumps of repr of encodebytes behind {n}"] = json.dumps(repr(base64.encodebytes(around)))
    return found

def of_bytes(b):
    return {
        "hex": b.hex(), "HEX": b.hex().upper(), "repr": repr(b), "repr of repr": repr(repr(b)), "json.dumps of repr": json.dumps(repr(b)),
        "latin-1": b.decode("latin-1"), "json.dumps of latin-1": json.dumps(b.decode("latin-1")),
        "repr of latin-1": repr(b.decode("latin-1")), **in_base64(b),
    }

def of_number(text):
    exact = Decimal(text)
    near, cents = float(exact), f"{exact:,.2f}"
    rounded = cents.replace(",", "")
    found = {
        "as it was sent": (text, text), "float": (repr(near), near), "two decimals": (rounded, rounded), "%g": ("%.15g" % near, "%.15g" % near),
        "exponent": (f"{near:e}", f"{near:e}"), "EXPONENT": (f"{near:E}", f"{near:E}"), "a Decimal's exponent": (f"{exact:E}", exact),
        "thousands": (f"{exact:,}", exact), "thousands of two decimals": (cents, rounded),
        "in Germany": (cents.translate(str.maketrans(",.", ".,")), rounded), "in France": (cents.translate(str.maketrans(",.", "\\u202f,")), rounded),
        "in Switzerland": (cents.replace(",", "\\u2019"), rounded), "in a table": (cents.replace(",", " "), rounded),
        "as a text": (json.dumps(str(near)), near), "signed": (f"total -{cents.lstrip('-')}", rounded),
        "with its currency": (f"\\u20ac{cents}", rounded), "behind a line's end": (json.dumps(f"\\n{cents}"), rounded),
    }
    if exact == int(exact):
        n = int(exact)
        written = {"an int": str(n), "underscores": f"{n:_}", "hexadecimal": hex(n), "HEXADECIMAL": f"0x{n:X}", "octal": oct(n), "binary": bin(n)}
        found.update({form: (text, n) for form, text in written.items()})
    found = {form: (written, Decimal(repr(value)) if isinstance(value, float) else value) for form, (written, value) in found.items()}
    # Rounded values are others.
    return {form: written for form, (written, value) in found.items() if Decimal(value) == exact}

given = json.load(sys.stdin)
print(json.dumps([
    of_number(g["number"]) if "number" in g else of_bytes(bytes.fromhex(g["bytes"])) if "bytes" in g else of_text(g["text"]) for g in given
]))
`;

const multiline =
  "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\nVJTUt9Us8cKj\n-----END KEY-----\n";
const texts = [
  "a&b <c>='d' %41 + 100%",
  "hunter2-Passw0rd",
  'p4ss"wörd/é+',
  'it\'s "both" and \\ back',
  "tab\tbed 😀 line\nend",
  multiline,
];
const binaries = [
  Buffer.from("00ff10fe20fd30fc40fb", "hex"),
  Buffer.from("%PDF-1.7\0\xe9\xff'\"\\\nmore bytes", "latin1"),
];
const numbers = ["1000", "1234567", "98765.43", "1e6", "-41000.5", "0.000123456", "123456789012345"];

const given: { name: string; secret: Secret; asked: object }[] = [
  ...texts.map((text) => ({ name: JSON.stringify(text.slice(0, 20)), secret: text, asked: { text } })),
  ...binaries.map((bytes) => ({ name: "bytes", secret: { bytes }, asked: { bytes: bytes.toString("hex") } })),
  ...numbers.map((number) => ({ name: number, secret: { number }, asked: { number } })),
];
let forms: Record<string, string>[] = [];

beforeAll(() => {
  const input = JSON.stringify(given.map(({ asked }) => asked));
  forms = JSON.parse(execFileSync("python3", ["-c", program], { input, maxBuffer: 64 << 20 }).toString());
});

describe.each(given.map((one, index) => ({ ...one, index })))("the secret $name", ({ secret, index }) => {
  const redactor = new Redactor([secret]);
  const each = () => Object.entries(forms[index] as Record<string, string>);

  it("is masked in every form that Python writes, and in JSON that contains the form", () => {
    const missed = each().flatMap(([form, text]) =>
      [text, JSON.stringify({ said: text }), JSON.stringify({ [text]: 1 })].some(
        (place) => redactor.mask(place) === place || redactor.finds(redactor.mask(place)),
      )
        ? [form]
        : [],
    );
    expect(missed).toEqual([]);
  });

  it("stops a stream that contains the secret in an escaped or encoded form, however the stream is split into chunks", async () => {
    const passed: string[] = [];
    for (const [form, text] of each()) {
      const body = Buffer.from(`${"x ".repeat(20)} ${text} ${" y".repeat(20)}`);
      for (const size of [1, 7, body.length]) {
        const stream = redactor.refuse(parts(body, size), () => undefined);
        await Array.fromAsync(stream).then(
          () => passed.push(form),
          (error) => expect(error).toBeInstanceOf(SecretFound),
        );
      }
    }
    expect(passed).toEqual([]);
  });

  it("leaves fewer than four of its characters in a shortened text", { timeout: 180_000 }, () => {
    const left = each().flatMap(([form, text]) => {
      const [start, end] = maskedPart(text, redactor.mask(text));
      // In these forms line ends and escapes add characters to the secret, so that more characters may be left.
      const few = form.includes("encodebytes")
        ? 12
        : /html|XML|decimal|names|attribute|all escaped|times|twice|quote of json/i.test(form)
          ? 15
          : 4;
      return Array.from({ length: end - start - 1 }, (_, index) => start + 1 + index).flatMap((cut) => {
        const before = redactor.mask(`${text.slice(0, cut)}[...]`);
        const behind = redactor.mask(`[...]${text.slice(cut)}`);
        const isHidden = {
          before: cut - start < few || before === `${text.slice(0, start)}***[...]`,
          behind: end - cut < few || behind === `[...]***${text.slice(end)}`,
        };
        return isHidden.before && isHidden.behind ? [] : [`${form} at ${cut}: ${before} ${behind}`];
      });
    });
    expect(left.slice(0, 5)).toEqual([]);
  });
});

/** Returns the range of the text that the mask replaced. Returns an empty range if there are several masks. */
function maskedPart(text: string, masked: string): [start: number, end: number] {
  const [before, behind, ...more] = masked.split("***") as [string, string];
  return more.length > 0 ? [0, 0] : [before.length, text.length - behind.length];
}

describe.each([
  ["a text", "hunter2-Passw0rd", 1],
  ["a text with special characters", 'p4ss"wörd/é+', 2],
  ["a number", 1234567, texts.length + binaries.length + 1],
])("a run with %s as its secret input", (_, secret, index) => {
  const inputs = { properties: { token: { secret: true } } };
  const redactor = () => new Redactor([given[index]?.secret as Secret]);
  const each = () => Object.entries(forms[index] as Record<string, string>);
  const all = () =>
    each()
      .map(([form, text]) => `${form}: ${text}`)
      .join("\n");
  const context = JSON.stringify({ token: secret });
  const noted = (result: Partial<Script["result"]>) => ({ result: { ...fails("").result, ...result } }) as Script;

  /**
   * Runs a workflow whose node `a` runs this script. Returns the texts of the run that people can read, without its
   * input.
   */
  async function told(script: () => Script): Promise<string> {
    const story = new Story(flow("one", [action("a")], lines("start > a > end"), { inputs }), { a: script });
    await story.start(context);
    await story.finish(story.deliver("a", 0));
    await story.finish(story.close(1));
    const trace = await readTrace(story.world.ports(atOnce), story.id, { full: true });
    return JSON.stringify([trace.entries.slice(1), story.world.record(story.id)]);
  }

  it.each<[string, () => Script]>([
    ["logs", () => noted({ logs: all() })],
    ["errors", () => noted({ message: all() })],
    ["tracebacks", () => noted({ traceback: all() })],
  ])("shows no form of the secret in %s", async (_place, script) => {
    const text = await told(script);
    expect(text).toContain("***");
    expect(redactor().finds(text)).toBe(false);
  });

  it("fails if code sets a form of the secret as a value, as a key, or as a key inside an object", async () => {
    const kept: string[] = [];
    for (const [form, text] of each()) {
      const sets = [
        { key: "a", json: JSON.stringify({ said: text }) },
        { key: "a", json: JSON.stringify({ [text]: 1 }) },
        { key: `a ${text}`, json: "1" },
      ];
      for (const one of sets) {
        const said = await told(() => noted({ status: "success", set: [one], delete: [] } as never));
        if (!said.includes("contains the value of a secret input") || redactor().finds(said)) kept.push(form);
      }
    }
    expect(kept).toEqual([]);
  });

  it("records no form of the secret in steps if code that a model wrote fails with the secret in its error", async () => {
    const written = flow("written", [prompted(action("a"))], lines("start > a > end"), { inputs });
    const script = () => noted({ logs: all(), message: all(), traceback: all() } as never);
    const story = new PromptStory(written, scriptedMinds({ codes: ["# one", "# two", "# three"] }), { a: script });
    await story.start(context);
    await story.finish(story.deliver("a", 0));
    const text = JSON.stringify((await story.trace()).entries.slice(1));
    expect(text).toContain("***");
    expect(redactor().finds(text)).toBe(false);
  });
});

describe("text in a log that is not secret", () => {
  it.each([
    ["1000", "it has 21000 or 10001, 1,000,000 and 1.000.000 rows, 1e30 of 1e31 and a1e3f"],
    ["1.00", "version 1.0, 1, 0x1 and 1e0"],
    ["98765.43", "98765.431 and 198,765.43"],
  ])("is not masked if it only resembles the secret number %s", (number, text) => {
    const redactor = new Redactor([{ number }]);
    const masked = redactor.mask(text).replaceAll("***", number);
    expect(masked).toBe(text);
  });
});

async function* parts(body: Buffer, size: number): AsyncIterable<Uint8Array> {
  for (let at = 0; at < body.length; at += size) yield body.subarray(at, at + size);
}
