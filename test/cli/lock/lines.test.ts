import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { checkLines, costLines, lockLines } from "../../../packages/cli/src/commands/lock.ts";
import type { NodeCosts } from "../../../packages/cli/src/lock/costs.ts";
import type { NodeState } from "../../../packages/cli/src/lock/folder.ts";
import { type NodeProof, type ProofRun, proofLines } from "../../../packages/cli/src/lock/prove.ts";
import { toTerminal } from "../../../packages/cli/src/output/terminal.ts";
import { approved, lockedOf, makeFolder, promptOf } from "./folders.ts";

function plain(lines: string[]): string[] {
  return lines.map((line) => stripVTControlCharacters(line));
}

describe("the output of nova lock", () => {
  it("names for each locked node its code file, the author, the cost and the proof", async () => {
    const locked = lockedOf(promptOf(await makeFolder()));
    expect(plain(lockLines([{ node: "sum", action: "added", locked }], ["gone"]))).toEqual([
      "sum: locked",
      "  generated/sum.py, written by gpt-6-luna for $0.0020, proven by exec_01",
      "gone: removed from the lock",
    ]);
    const edited = { ...locked, origin: "edited" } as const;
    expect(plain(lockLines([{ node: "sum", action: "edited", locked: edited }], []))).toEqual([
      "sum: your edit is locked now",
      "  generated/sum.py, edited by hand, proven by exec_01",
    ]);
  });

  it("asks the user to approve code if the workflow requires that", async () => {
    const locked = lockedOf(promptOf(await makeFolder()));
    const lines = (given: object) =>
      lockLines([{ node: "sum", action: "added", locked: { ...locked, ...given } }], [], "required");
    expect(plain(lines({})).at(-1)).toMatch(/it is not approved.*nova lock approve/);
    expect(lines({ approved })).toHaveLength(2);
  });

  it("names the nodes whose code is missing, and says if there is nothing to do", () => {
    expect(plain(lockLines([{ node: "sum", action: "none" }], []))).toEqual([
      expect.stringMatching(/^sum: no code for/),
    ]);
    expect(lockLines([], [])).toEqual(["no node has a prompt, so no code can be locked"]);
  });
});

describe("the output of nova lock --check", () => {
  it.each<[NodeState["state"], RegExp]>([
    ["unlocked", /✗ sum has no locked code - .*nova lock/],
    ["missing", /its code file is gone/],
    ["edited", /edited by hand - nova lock locks the edit/],
    ["stale", /written for another definition, changed since: its key/],
    ["unapproved", /its code is not approved/],
    ["stranger", /no longer a prompt node - nova lock removes it/],
  ])("says what to do about a node that is %s", (state, sentence) => {
    const [line, all] = plain(checkLines([{ node: "sum", state, changes: [] }], "bills"));
    expect(line).toMatch(sentence);
    expect(all).toBe("1 of 1 nodes cannot run frozen now");
  });

  it("names everything in the definition that has changed since the code was locked", () => {
    const changes = [
      { ingredient: "prompt", was: "a", is: "b" },
      { ingredient: "reads.n", was: "number", is: "string" },
    ];
    expect(plain(checkLines([{ node: "sum", state: "stale", changes }], "bills"))[0]).toMatch(
      /changed since: the prompt, n \(number then, string now\)/,
    );
  });
});

describe("the output of nova lock --costs", () => {
  const spent = { usd: 0.002, tokens_input: 900, tokens_cached: 0, tokens_output: 100 };
  const costs: NodeCosts = {
    node: "sum",
    generations: 2,
    written: { ...spent, usd: 0.004 },
    saved_per_run: spent,
    runs: 9,
    hits: 7,
    saved_usd: 0.014,
    break_even_runs: 2,
  };

  it("has a row for each node, and a row for the sum", () => {
    const [, row, all] = plain(costLines([costs]));
    expect(row?.split(/ {2,}/)).toEqual([
      "sum",
      "2×",
      "$0.0040",
      "$0.0020",
      "1000",
      "9",
      "7",
      "$0.0140",
      "2 runs (reached)",
    ]);
    expect(all).toBe("written for $0.0040, saved $0.0140");
  });

  it.each<[Partial<NodeCosts>, string]>([
    [{ hits: 1 }, "2 runs"],
    [{ break_even_runs: null }, "-"],
  ])("says when the code pays off, for the costs %j: %s", (fields, text) => {
    expect(
      plain(costLines([{ ...costs, ...fields }]))[1]
        ?.split(/ {2,}/)
        .at(-1),
    ).toBe(text);
  });

  it("is one sentence if no model wrote code", () => {
    expect(costLines([])).toEqual([expect.stringMatching(/^no node has a prompt/)]);
  });
});

describe("the output of nova lock --prove", () => {
  const run = (fields: Partial<ProofRun>): ProofRun =>
    ({
      recorded: { execution: { id: "exec_01" }, entry: { seq: 2, scope: "/m@1.0" } },
      outcome: "same",
      differences: [],
      error: null,
      withheld: [],
      ...fields,
    }) as unknown as ProofRun;
  const lines = (...runs: ProofRun[]) => plain(proofLines([{ node: "sum", codeHash: "", runs } as NodeProof]));

  it("counts the inputs for which the outputs are the same, and names each run", () => {
    expect(lines(run({}), run({ outcome: "fails", error: "KeyError", withheld: ["password"] }))).toEqual([
      "sum: the same outputs for 1 of 2 recorded inputs",
      "  exec_01 2/m@1.0 the same outputs",
      "  exec_01 2/m@1.0 fails, but succeeded in the recorded run (without password)",
      "    KeyError",
    ]);
  });

  it("shows the recorded and the new value of a key without control characters", () => {
    const differences = [
      { key: "total", recorded: "3", now: null },
      { key: "text", recorded: '"a"', now: '"\u001b[2Jb"' },
    ];
    const told = proofLines([
      { node: "sum", codeHash: "", costUsd: 0.0021, runs: [run({ outcome: "differs", differences })] },
    ]);
    expect(toTerminal(told.join(""))).not.toContain("\u001b[2J");
    expect(lines(run({ outcome: "differs", differences })).slice(2)).toEqual([
      "    total",
      "      - 3",
      "      + (not set)",
      "    text",
      '      - "a"',
      '      + "b"',
    ]);
  });

  it("says why the code of a node cannot be proven", () => {
    expect(plain(proofLines([{ node: "send", refused: 'node "send" has effects' }]))).toEqual([
      'node "send" has effects',
    ]);
    expect(proofLines([])).toEqual([expect.stringMatching(/^no node has a prompt/)]);
  });
});
