import { costOf } from "@nova/agents";
import prices from "./prices.json" with { type: "json" };
import { type Quantity, type Run, usageOf } from "./usage.ts";

/** Cost of one run in US dollars, by provider. */
export interface RunCost {
  stepFunctions: number;
  lambda: number;
  dynamodb: number;
  /** API Gateway, EventBridge, KMS, logs, traces. */
  otherAws: number;
  sandbox: number;
  model: number;
}

/** The model requests for the code of one node at the first attempt. A second attempt costs the same again. */
const requests = [
  { model: "gpt-6-luna", input: 1_500, cached: 0, output: 100 },
  { model: "gpt-6.1-terra", input: 4_000, cached: 1_500, output: 900 },
  { model: "gpt-6-luna", input: 2_500, cached: 0, output: 150 },
];

export function costOfRun(run: Run): RunCost {
  const usage = usageOf(run);
  const usd = (...quantities: Quantity[]) =>
    quantities.reduce((sum, quantity) => sum + usage[quantity] * prices.usd[quantity], 0);
  return {
    stepFunctions: usd("transition"),
    lambda: usd("lambdaRequest", "lambdaGibSecond"),
    dynamodb: usd("dynamodbWrite", "dynamodbRead"),
    otherAws: usd("apiRequest", "busEvent", "kmsRequest", "logsGib", "trace"),
    sandbox: usd("sandboxVcpuSecond", "sandboxGibSecond"),
    model: run.written * requests.reduce((sum, { model, ...usage }) => sum + costOf(model, usage), 0),
  };
}
