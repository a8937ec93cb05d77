import type { RunRequest } from "@nova/engine";
import { expect, test } from "vitest";
import { inputReferences, namedBlobs } from "../../packages/sandbox/src/references.ts";

const ref = (digit: string) => ({ sha256: digit.repeat(64), bytes: 3, type: "bytes" as const });
const text = (digit: string) => JSON.stringify({ $blob: ref(digit) });

function request(code: string, context: Record<string, string>): RunRequest {
  return { code, context: Object.entries(context).map(([key, json]) => ({ key, json })) } as RunRequest;
}

test.each([
  [`context["pdf"]`, ["1"]],
  [`context.get('pdf')`, ["1"]],
  [`context[f"{name}"]`, []],
  [`context["mail"]["files"], context["pdf"]`, ["1", "2", "3"]],
  [`pdf = context`, []],
])("the code %s names the blobs %j", (code, expected) => {
  const context = { pdf: text("1"), mail: `{"files":[${text("2")},${text("3")}]}`, n: "1" };
  expect(namedBlobs(request(code, context)).map(({ sha256 }) => sha256[0])).toEqual(expected);
});

test("data that quotes a reference is not a reference", () => {
  const quoted = JSON.stringify({ note: text("4"), escaped: { $$blob: ref("5") } });
  expect(inputReferences(request("", { quoted, real: ` { "$blob" : ${JSON.stringify(ref("6"))} } ` }))).toEqual(
    new Set([`${"6".repeat(64)} 3 bytes`]),
  );
});
