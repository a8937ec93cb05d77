import fc from "fast-check";
import { expect, test } from "vitest";
import { lineReader } from "../../packages/sandbox/src/lines.ts";

const answers = [
  { type: "need", outputs: "extract", put: "answers/1-0", refuse: "answers/1-0" },
  { type: "tombstoned" },
  { type: "stopped", logs: "a\nb" },
] as const;
const text = answers.map((answer) => `n0nce ${JSON.stringify(answer)}\n`).join("noise\nn0nc3 {}\n");

test("the line reader finds answers in chunks of any size", () => {
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
])("the line reader refuses an unknown message: %s", (line, what) => {
  const read = lineReader("n0nce", () => undefined);
  expect(() => read(line)).toThrow(what);
});
