import { expect, it } from "vitest";
import { Context } from "../../../packages/engine/src/context/context.ts";
import { referenceText } from "../../../packages/engine/src/context/references.ts";
import { findValue } from "../../../packages/engine/src/context/whole-value.ts";
import type { BlobRef } from "../../../packages/engine/src/ports/blobs.ts";

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
