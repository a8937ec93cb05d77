import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mask, Redactor } from "../../../packages/engine/src/secrets/redactor.ts";

/** Ranges whose characters are the same in every Python and in this process. */
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

describe("the Python form of a secret", () => {
  it("is found and masked completely in every text of repr, ascii and json.dumps", () => {
    const missed = python(texts).flatMap((forms, index) => {
      const redactor = new Redactor([texts[index] as string]);
      // Tests that only the quotes remain around the mask.
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
  ])("for %j does not stay in %s, or in JSON that contains it", (secret, said) => {
    const redactor = new Redactor([secret]);
    expect(redactor.mask(said)).toContain(mask);
    expect(redactor.mask(JSON.stringify({ said }))).toContain(mask);
  });
});

function isMasked(text: string): boolean {
  return /^\\?["'](\*\*\*)\\?["']$/.test(text);
}
