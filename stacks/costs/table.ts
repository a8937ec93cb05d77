import { costOfRun, type Run, type RunCost } from "./costs.ts";

const eight = { nodes: 8, decisions: 2, secondsPerNode: 0.5 };
const runs: { what: string; run: Run }[] = [
  { what: "3 nodes of code, 0.1 s each", run: { nodes: 3, decisions: 1, secondsPerNode: 0.1, written: 0 } },
  { what: "8 nodes, 0.5 s each, prompts with pinned code among them", run: { ...eight, written: 0 } },
  { what: "the same, 3 prompts written again in each run", run: { ...eight, written: 3 } },
  { what: "40 nodes of code, 2 s each", run: { nodes: 40, decisions: 10, secondsPerNode: 2, written: 0 } },
];

const columns: Record<keyof RunCost, string> = {
  stepFunctions: "Step Functions",
  lambda: "Lambda",
  dynamodb: "DynamoDB",
  otherAws: "API, events, KMS, logs, traces",
  sandbox: "E2B",
  model: "models",
};

/** Returns the cost of 1,000 runs in US dollars, as a Markdown table. */
export function costTable(): string {
  const names = Object.keys(columns) as (keyof RunCost)[];
  const lines = runs.map(({ what, run }) => {
    const cost = costOfRun(run);
    const parts = names.map((name) => 1000 * cost[name]);
    return [what, ...parts.map(dollars), `**${dollars(parts.reduce((sum, part) => sum + part, 0))}**`];
  });
  const head = ["1,000 runs of", ...Object.values(columns), "together, $"];
  const rows = [head, head.map((_, column) => (column === 0 ? "---" : "---:")), ...lines];
  return rows.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function dollars(usd: number): string {
  return usd.toFixed(2);
}
