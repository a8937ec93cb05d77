import { publishChain, runChain } from "../chains.ts";
import { type Bench, median, rounded } from "../figure.ts";

const lengths = [10, 100, 400] as const;
const rounds = 3;

/**
 * Compares the time and the AWS calls of one more node in a long chain with those of one more node in a short chain.
 */
export const growth: Bench = async (cloud) => {
  const wallMs = new Map<number, number>();
  const calls = new Map<number, { dynamodb: number; s3: number; sandbox: number }>();
  for (const length of lengths) {
    const version = await publishChain(cloud, length);
    await runChain(cloud, version);
    const runs = [];
    for (let round = 0; round < rounds; round++) runs.push(await runChain(cloud, version));
    wallMs.set(length, median(runs.map((run) => run.wallMs)));
    const { aws_calls, sandbox_calls } = await cloud.counters(runs[0]?.id ?? "");
    calls.set(length, { dynamodb: aws_calls.dynamodb, s3: aws_calls.s3, sandbox: sandbox_calls });
  }
  const perNode = (from: number, to: number) => ((wallMs.get(to) ?? 0) - (wallMs.get(from) ?? 0)) / (to - from);
  const callsPerNode = (name: "dynamodb" | "s3" | "sandbox") =>
    rounded(((calls.get(100)?.[name] ?? 0) - (calls.get(10)?.[name] ?? 0)) / 90);
  const [near, far] = [perNode(10, 100), perNode(100, 400)];
  return [
    {
      name: "one more node in a chain: between 100 and 400 nodes against between 10 and 100",
      aim: "at most 1.2 x",
      value: rounded(far / near),
      met: far / near <= 1.2,
      detail: Object.fromEntries([...wallMs].map(([length, ms]) => [`${length}_nodes_ms`, rounded(ms, 0)])),
    },
    {
      name: "calls per small node: DynamoDB",
      aim: "at most 1 read + 2 writes",
      value: callsPerNode("dynamodb"),
      met: callsPerNode("dynamodb") <= 3,
      detail: {},
    },
    {
      name: "calls per small node: S3",
      aim: "0",
      value: callsPerNode("s3"),
      met: callsPerNode("s3") === 0,
      detail: {},
    },
    {
      name: "calls per small node: sandbox, warm",
      aim: "at most 2",
      value: callsPerNode("sandbox"),
      met: callsPerNode("sandbox") <= 2,
      detail: {},
    },
  ];
};
