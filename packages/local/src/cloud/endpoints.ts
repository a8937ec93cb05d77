import type { DynamoDbOptions } from "../dynamodb/index.ts";
import { type E2bOptions, type E2bServer, openE2b } from "../e2b/open.ts";
import { withChaos } from "../lambda/chaos.ts";
import type { InvokeLambda } from "../lambda-types.ts";
import type { S3Options } from "../s3/index.ts";
import type { States } from "../states/open-states.ts";
import { region } from "./environment.ts";
import { withProgress } from "./invocations.ts";
import type { Keys } from "./keys.ts";
import type { Endpoints } from "./owner-file.ts";
import type { Progress } from "./progress.ts";
import { sitePackages } from "./python-packages.ts";
import { templateFolder } from "./templates.ts";

export interface CloudOptions {
  /** Where everything is kept: `.nova`. */
  dataDir: string;
  /** A sentence for whoever runs this, such as that sandboxes are not isolated. */
  warn?: (sentence: string) => void;
  /** Delivers every task twice and kills Lambdas at random. */
  chaos?: { seed: number };
  /** What the endpoints are to suffer, for tests. */
  faults?: { dynamodb?: NonNullable<DynamoDbOptions["faults"]>; s3?: NonNullable<S3Options["faults"]> };
  /** The plan that the E2B endpoint plays. */
  limits?: NonNullable<E2bOptions["limits"]>;
}

export interface OpenedEndpoints {
  urls: Omit<Endpoints, "admin">;
  states: States;
  e2b: E2bServer;
  close(): Promise<void>;
}

/** DynamoDB, S3, E2B and Step Functions with its Lambdas; side by side, because the slowest decides when a run begins. */
export async function openEndpoints(options: CloudOptions, keys: Keys, progress: Progress): Promise<OpenedEndpoints> {
  const { dataDir, faults } = options;
  const { accessKeyId } = keys;
  const functions = loadFunctions();
  const [e2b, dynamodb, s3, states] = await Promise.all([
    openE2b({
      apiKey: keys.e2bApiKey,
      sitePackages: [sitePackages(dataDir)],
      templates: (template) => [templateFolder(dataDir, template)],
      ...(options.limits && { limits: options.limits }),
      ...(options.warn && { warn: options.warn }),
    }),
    import("../dynamodb/index.ts").then(({ openDynamoDb }) =>
      openDynamoDb({ dataDir, accessKeyId, ...(faults?.dynamodb && { faults: faults.dynamodb }) }),
    ),
    import("../s3/index.ts").then(({ openS3 }) =>
      openS3({ dataDir, accessKeyId, ...(faults?.s3 && { faults: faults.s3 }) }),
    ),
    openStatesWith(options, accessKeyId, functions, progress),
  ]);
  return {
    urls: {
      dynamodb: dynamodb.url,
      s3: s3.url,
      states: states.url,
      e2bApi: e2b.apiUrl,
      e2bSandbox: e2b.sandboxUrl,
    },
    states,
    e2b,
    async close() {
      await states.close();
      await Promise.all([e2b.close(), s3.close(), dynamodb.close()]);
    },
  };
}

async function openStatesWith(
  { dataDir, chaos }: CloudOptions,
  accessKeyId: string,
  functions: Promise<InvokeLambda>,
  progress: Progress,
): Promise<States> {
  const { openStates } = await import("../states/open-states.ts");
  const lambdas: InvokeLambda = async (arn, payload, signal) => (await functions)(arn, payload, signal);
  const invokeLambda = chaos ? withChaos(lambdas, chaos).invokeLambda : lambdas;
  return openStates({
    dataDir,
    accessKeyId,
    region,
    invokeLambda: withProgress(invokeLambda, progress),
    // EventBridge's part: the function that is subscribed to status changes, then whoever waits.
    async onStatusChange(detail) {
      await lambdas(statusFunction, JSON.stringify({ detail }));
      progress.end(detail.name);
    },
  });
}

const statusFunction = `arn:aws:lambda:${region}:000000000000:function:nova-execution-status:live`;

/** Loading the functions takes longest and needs no endpoint: their first invocation is what reads the environment. */
async function loadFunctions(): Promise<InvokeLambda> {
  process.env.POWERTOOLS_LOG_LEVEL ??= "SILENT";
  const [{ functions }, { createLambdaRuntime }] = await Promise.all([
    import("@nova/functions"),
    import("../lambda/lambda-runtime.ts"),
  ]);
  return createLambdaRuntime({ functions });
}
