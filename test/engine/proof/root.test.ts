import { isRootSigned, readRoot, sha256, signRoot, TreeDamaged } from "@nova/engine";
import { describe, expect, it } from "vitest";
import { memoryKeyPair } from "../../support/key-pair.ts";

const keyPair = memoryKeyPair();
const clock = { now: () => Date.parse("2026-11-28T19:00:00.000Z"), sleep: async () => undefined };
const first = await signRoot({ keyPair, clock }, undefined, [{ execution: "exec_1", hash: sha256("1") }]);
const second = await signRoot({ keyPair, clock }, first, [{ execution: "exec_2", hash: sha256("2") }]);

describe("the root of a tree of proofs", () => {
  it("has a signed text with its number, its time, the size and the hash of its tree, and the hash of the previous root", async () => {
    const tree = sha256(Buffer.from(`00${sha256("2")}`, "hex"));
    expect(second.text).toBe(
      `{"format":1,"number":2,"size":1,"tree":"${tree}","at":"2026-11-28T19:00:00.000Z","previous":"${sha256(first.text)}"}`,
    );
    expect(await keyPair.verify(`nova root v1\n${second.text}`, second.signature)).toBe(true);
    expect(await isRootSigned(keyPair, second)).toBe(true);
    expect(await isRootSigned(keyPair, { ...second, text: first.text })).toBe(false);
  });

  it.each([first, second])("number $number is read from its text", ({ number, text, signature }) => {
    expect(readRoot({ number, text, signature })).toEqual(number === 1 ? first : second);
  });

  const { text } = second;
  it.each([
    ["another number", text.replace('"number":2', '"number":3')],
    ["the number 0", text.replace('"number":2', '"number":0')],
    ["no leaf", text.replace('"size":1', '"size":0')],
    ["a size with a zero in front", text.replace('"size":1', '"size":01')],
    ["no hash of the previous root", text.replace(/"previous":.*/, '"previous":null}')],
    ["a further field", text.replace("}", ',"more":1}')],
    ["a space", text.replace(",", ", ")],
    ["a line end after its JSON", `${text}\n`],
    ["a time without milliseconds", text.replace(".000Z", "Z")],
    ["a hash in capitals", text.replace(/"tree":"[^"]*"/, (tree) => `"tree":"${tree.slice(8, -1).toUpperCase()}"`)],
  ])("is refused if its text has %s", (_, changed) => {
    expect(changed).not.toBe(text);
    expect(() => readRoot({ ...second, text: changed })).toThrow(TreeDamaged);
  });

  it("is refused if its number is 1 and its text names a previous root", () => {
    const changed = text.replace('"number":2', '"number":1');
    expect(() => readRoot({ ...second, number: 1, text: changed })).toThrow(TreeDamaged);
  });
});
