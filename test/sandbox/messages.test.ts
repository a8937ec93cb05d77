import type { RunRequest } from "@nova/engine";
import fc from "fast-check";
import { expect, test } from "vitest";
import { inputReferences, lineReader, namedBlobs } from "../../packages/sandbox/src/messages.ts";

const answers = [
  { type: "need", outputs: "extract", put: "answers/1-0", refuse: "answers/1-0" },
  { type: "tombstoned" },
  { type: "stopped", logs: "a\nb" },
] as const;
const text = answers.map((answer) => `n0nce ${JSON.stringify(answer)}\n`).join("noise\nn0nc3 {}\n");

test("the reader of messages from a sandbox returns the same messages, however the output is split into chunks", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(text.length)), (cuts) => {
      const seen: unknown[] = [];
      const read = lineReader("n0nce", (answer) => seen.push(answer));
      const edges = [0, ...cuts.toSorted((a, b) => a - b), text.length];
      for (const [index, edge] of edges.entries()) read(text.slice(edge, edges[index + 1]));
      expect(seen).toEqual(answers);
    }),
  );
});

test.each([
  ['n0nce {"type":"unknown"}\n', "type"],
  ['n0nce {"type":"outcome","path":"../../etc/passwd","bytes":1}\n', "path"],
  ['n0nce {"type":"need","outputs":"a","put":"/etc/passwd","refuse":"answers/1-0"}\n', "put"],
])("the reader of messages from a sandbox throws for an invalid message: %s", (line, what) => {
  const read = lineReader("n0nce", () => undefined);
  expect(() => read(line)).toThrow(what);
});

const ref = (digit: string) => ({ sha256: digit.repeat(64), bytes: 3, type: "bytes" as const });
const referenceText = (digit: string) => JSON.stringify({ $blob: ref(digit) });

function request(code: string, context: Record<string, string>): RunRequest {
  return { code, context: Object.entries(context).map(([key, json]) => ({ key, json })) } as RunRequest;
}

test.each([
  [`context["pdf"]`, ["1"]],
  [`context.get('pdf')`, ["1"]],
  [`context[f"{name}"]`, []],
  [`context["mail"]["files"], context["pdf"]`, ["1", "2", "3"]],
  [`pdf = context`, []],
])("namedBlobs finds that the code %s names the blobs %j", (code, expected) => {
  const context = { pdf: referenceText("1"), mail: `{"files":[${referenceText("2")},${referenceText("3")}]}`, n: "1" };
  expect(namedBlobs(request(code, context)).map(({ sha256 }) => sha256[0])).toEqual(expected);
});

test("inputReferences ignores data in the input that only looks like a reference to a blob", () => {
  const quoted = JSON.stringify({ note: referenceText("4"), escaped: { $$blob: ref("5") } });
  expect(inputReferences(request("", { quoted, real: ` { "$blob" : ${JSON.stringify(ref("6"))} } ` }))).toEqual(
    new Set([`${"6".repeat(64)} 3 bytes`]),
  );
});
