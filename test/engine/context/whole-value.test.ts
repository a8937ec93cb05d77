import { describe, expect, it } from "vitest";
import { Context } from "../../../packages/engine/src/context/context.ts";
import {
  findValue,
  offloadLargeValues,
  referenceText,
  wholeValue,
} from "../../../packages/engine/src/context/references.ts";
import type { BlobRef } from "../../../packages/engine/src/ports/blobs.ts";
import { atOnce } from "../../support/engine/scheduler.ts";
import { BlobState } from "../../support/engine/stores.ts";

const ref = (name: string, type: BlobRef["type"] = "json"): BlobRef => ({ sha256: name.repeat(64), bytes: 9, type });
const blobs: Record<string, string> = {
  [ref("a").sha256]: `{"lines": [{"total": 850.0}, ${referenceText(ref("b"))}]}`,
  [ref("b").sha256]: '{"total": 12345678901234567890}',
};
const context = new Context(
  Object.entries({
    flat: '{"n": 12345678901234567890, "list": [1, {"a": null}]}',
    "mail.size": "7",
    mail: '{"size": 8, "from": "ann"}',
    large: referenceText(ref("a")),
    file: `{"pdf": ${referenceText(ref("c", "bytes"))}}`,
  }).map(([key, json]) => ({ key, json, by: 0 })),
);

it.each([
  ["flat.n", "12345678901234567890"],
  ["flat.list.1.a", "null"],
  ["flat.list.2", undefined],
  ["flat.list.length", undefined],
  ["flat.n.digits", undefined],
  ["mail.size", "7"],
  ["mail.from", '"ann"'],
  ["mail", '{"size": 8, "from": "ann"}'],
  ["nothing.there", undefined],
  ["large.lines.0.total", "850.0"],
  ["large.lines.1.total", "12345678901234567890"],
  ["large.lines.1", referenceText(ref("b"))],
  ["large", referenceText(ref("a"))],
  ["file.pdf", referenceText(ref("c", "bytes"))],
  ["file.pdf.$blob", undefined],
])("findValue finds at the path %s the value %s", async (path, expected) => {
  expect(await findValue(context, path, async (sha256) => blobs[sha256] as string)).toBe(expected);
});

const home = { client: "c", root: "r" };
const letter = "dear all ".repeat(1000);
const values: Record<string, string> = {
  small: '{"total":850.0,"n":12345678901234567890}',
  letter: JSON.stringify(letter),
  mails: JSON.stringify([{ body: letter, from: "a" }]),
  numbers: JSON.stringify(Array.from({ length: 4000 }, (_, n) => n)),
  nested: JSON.stringify({ list: Array.from({ length: 2000 }, () => "abcdef"), body: letter }),
};

async function stored() {
  const blobs = new BlobState().port(atOnce);
  const slots = Object.entries(values).map(async ([key, json]) => ({
    ...{ key, by: 0 },
    json: await offloadLargeValues(json, (ref, body) => blobs.put(home, ref, body)),
  }));
  return { input: new Context(await Promise.all(slots)), source: { home, blobs } };
}

describe("the whole value of a key of the context", () => {
  it.each(Object.keys(values))("is JSON in which every blob is replaced by its content (%s)", async (key) => {
    const { input, source } = await stored();
    expect(await wholeValue(input, key, 1_000_000, source)).toBe(values[key]);
  });

  it.each([
    ["small", 10],
    ["letter", 8_999],
    ["nested", 20_000],
  ])("is null if it is too large (%s above %i bytes)", async (key, most) => {
    const { input, source } = await stored();
    expect(await wholeValue(input, key, most, source)).toBeNull();
  });

  it("keeps the references to blobs of bytes", async () => {
    const { source } = await stored();
    const json = `{"file":{"$blob":{"sha256":"${"ab".repeat(32)}","bytes":9,"type":"bytes"}}}`;
    expect(await wholeValue(new Context([{ key: "pdf", json, by: 0 }]), "pdf", 1000, source)).toBe(json);
  });

  it("is null for a key that the context does not have", async () => {
    const { input, source } = await stored();
    expect(await wholeValue(input, "other", 1000, source)).toBeNull();
  });
});
