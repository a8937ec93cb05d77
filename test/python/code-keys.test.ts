import { writeFileSync } from "node:fs";
import { codeKeys, foreignModules } from "@nova/python";
import { describe, expect, it } from "vitest";
import { readCorpus, type Snippet, template } from "./support/corpus.ts";
import { type FaultKind, faultsOf } from "./support/faults.ts";

const [correct, roundabout] = [readCorpus("correct"), readCorpus("roundabout")];

/** Keys that a snippet finds in other contexts than its own: `inputs` would declare them. */
const elsewhere: Record<string, string> = { discriminated: "receipt_sum", dispatch_table: "factor" };
const fromNova = ["branch_decision", "error", "_data_analysis"];

/** As a workflow knows them whose `inputs` declare all that the snippet finds. */
function missingIn({ name, source, facts }: Snippet): string[] {
  const given = [...Object.keys(facts.context ?? {}), ...fromNova, elsewhere[name] ?? ""];
  const missing = facts.context && codeKeys(source)?.missing(given);
  return (missing ?? []).map(({ key }) => key);
}

function foreignIn({ source, facts: { modules = [], lib = [] } }: Snippet): string[] {
  const own = Object.fromEntries(lib.map((name) => [name, ""]));
  return foreignModules({ requirements: template, lib: own })(source)
    .map(({ module }) => module)
    .filter((module) => !modules.includes(module));
}

describe("what a workflow asks of its code", () => {
  it("has nothing to say about correct code", () => {
    const said = [...correct, ...roundabout].map((one) => [one.name, ...missingIn(one), ...foreignIn(one)]);
    expect(said.filter(([, ...found]) => found.length > 0)).toEqual([]);
  });

  it.each<[FaultKind, (fault: Snippet) => string[]]>([
    ["wrong key", missingIn],
    ["missing import", foreignIn],
  ])("finds 95 % of the faults of the kind %s", (kind, find) => {
    const faults = correct.flatMap(faultsOf).filter((one) => one.kind === kind);
    const missed = faults.filter((fault) => find(fault).length === 0);
    if (process.env.NOVA_FIGURES) writeFileSync(2, missed.map(({ name, how }) => `missed ${name}: ${how}\n`).join(""));
    expect(faults.length).toBeGreaterThanOrEqual(30);
    expect(1 - missed.length / faults.length, `${missed.length} of ${faults.length}`).toBeGreaterThanOrEqual(0.95);
  });
});
