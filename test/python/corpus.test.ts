import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { errorsOf, readCorpus } from "./support/corpus.ts";
import { codesOf, type Fault, type FaultKind, faultsOf } from "./support/faults.ts";

const correct = readCorpus("correct");

it("the test corpus has at least 160 correct snippets of Python code", () => {
  expect(correct.length).toBeGreaterThanOrEqual(160);
});

it.each([...correct, ...readCorpus("roundabout")])(
  "checkNodeCode accepts the correct snippet $name",
  async (snippet) => {
    expect(await errorsOf(snippet)).toEqual([]);
  },
);

/**
 * Counts, for each kind of fault, how many were inserted and how many checkNodeCode finds. `NOVA_FIGURES=1` prints the
 * counts.
 */
async function figuresOf(faults: readonly Fault[]) {
  const figures = new Map<FaultKind, { found: number; made: number; missed: string[] }>();
  for (const fault of faults) {
    const figure = figures.get(fault.kind) ?? { found: 0, made: 0, missed: [] };
    figures.set(fault.kind, figure);
    figure.made++;
    const codes = await errorsOf(fault);
    if (codes.some((code) => codesOf[fault.kind].test(code))) figure.found++;
    else figure.missed.push(`${fault.name}: ${fault.how}`);
  }
  if (process.env.NOVA_FIGURES) report(figures);
  return figures;
}

function report(figures: ReadonlyMap<FaultKind, { found: number; made: number; missed: string[] }>): void {
  for (const [kind, { found, made, missed }] of figures) {
    writeFileSync(2, `${kind}: ${found} of ${made} found\n${missed.map((each) => `  missed ${each}\n`).join("")}`);
  }
}

describe("checkNodeCode, if one fault is inserted into a correct snippet,", () => {
  it("finds at least 95 % of the faults of every kind", { tags: ["deep"] }, async () => {
    const figures = await figuresOf(correct.flatMap(faultsOf));
    expect(Array.from(figures.keys()).sort()).toEqual(Object.keys(codesOf).sort());
    for (const [kind, { found, made }] of figures) {
      expect.soft(found / made, `${kind}: ${found} of ${made}`).toBeGreaterThanOrEqual(0.95);
      expect.soft(made, kind).toBeGreaterThanOrEqual(30);
    }
  });
});

const context = {
  email_user: "a@b.c",
  email_password: "secret",
  email: { from: "a", subject: "b", attachments: [{ name: "x.pdf", size: 10 }] },
  lines: [{ price: 1.5, quantity: 2 }],
  total: 1500,
  text: "Total: 15,00",
};

describe("checkNodeCode, in snippets with faults of people and models,", () => {
  it.each(readCorpus("faulty", { context }))("finds $topic: $name", async (fault) => {
    const codes = await errorsOf(fault);
    const kind = fault.topic.replaceAll("-", " ") as FaultKind;
    expect(codes.filter((code) => codesOf[kind].test(code))).not.toEqual([]);
  });
});
