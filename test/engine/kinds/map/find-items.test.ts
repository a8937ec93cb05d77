import type { BlobRef } from "@nova/engine";
import { expect, it } from "vitest";
import { Context } from "../../../../packages/engine/src/context/context.ts";
import { referenceText } from "../../../../packages/engine/src/context/references.ts";
import { findItems } from "../../../../packages/engine/src/kinds/map/run-map.ts";

const blobs = new Map<string, string>();

/** A reference to a JSON blob with this text. */
function blob(text: string, type: BlobRef["type"] = "json"): string {
  const sha256 = String(blobs.size).padStart(64, "0");
  blobs.set(sha256, text);
  return referenceText({ sha256, bytes: text.length, type });
}

const load = async (sha256: string) => blobs.get(sha256) ?? "";
const found = (path: string, slots: Record<string, string>) =>
  findItems(new Context(Object.entries(slots).map(([key, json]) => ({ key, json, by: 0 }))), path, load);

it.each<[string, string, Record<string, string>, string[]]>([
  [
    "as it is written",
    "list",
    { list: '[ 1.50, "a,]" ,{"b": [2]},12345678901234567890 ]' },
    ["1.50", '"a,]"', '{"b": [2]}', "12345678901234567890"],
  ],
  ["that is empty", "list", { list: "[ ]" }, []],
  ["at a path", "mail.parts", { mail: '{"parts":[1,850.0]}' }, ["1", "850.0"]],
  ["in a list", "mails.1.parts", { mails: '[0,{"parts":[7]}]' }, ["7"]],
  ["under a key with dots", "mail.parts", { "mail.parts": "[1]", mail: '{"parts":[2]}' }, ["1"]],
  ["in a blob", "list", { list: blob("[1,[2]]") }, ["1", "[2]"]],
  ["at a path into a blob", "mail.parts", { mail: blob('{"parts":[3]}') }, ["3"]],
  ["in a blob inside a blob", "mail.parts", { mail: blob(`{"parts":${blob("[4]")}}`) }, ["4"]],
])("findItems finds a list %s", async (_what, path, slots, items) => {
  expect(await found(path, slots)).toEqual(items);
});

it.each<[string, Record<string, string>, string]>([
  ["mail", {}, 'there is no context["mail"]'],
  ["mail.parts", { mail: '{"part":[]}' }, 'there is no context["mail.parts"]'],
  ["mail.length", { mail: "[1]" }, 'there is no context["mail.length"]'],
  ["mail", { mail: '"[1]"' }, 'context["mail"] is a text, not a list'],
  ["mail", { mail: blob("[1]", "text") }, 'context["mail"] is a text, not a list'],
  ["mail", { mail: blob("[1]", "bytes") }, 'context["mail"] is bytes, not a list'],
  ["mail", { mail: '{"0":1}' }, 'context["mail"] is an object, not a list'],
  ["mail.n", { mail: '{"n":3}' }, 'context["mail.n"] is a number, not a list'],
  ["mail", { mail: "null" }, 'context["mail"] is null, not a list'],
])("findItems describes the problem of the path %j in %j", async (path, slots, sentence) => {
  expect(await found(path, slots)).toEqual({ problem: expect.stringContaining(sentence) });
});
