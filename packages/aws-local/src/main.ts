import { once } from "node:events";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import type { LambdaFunctions } from "./lambda/lambda-runtime.ts";
import { openAws } from "./open-aws.ts";

const usage = `usage: aws-local [--folder .aws-local] [--port 4566] [--key-id test] [--secret test] [--functions functions.ts]

Serves DynamoDB at the port, and S3, Step Functions and SES at the next three.
--functions names a module. It exports "functions", an object from a Lambda function's name to
{ handler, timeoutSeconds }. State machines call these functions.
`;

/** Serves AWS until Ctrl-C or SIGTERM. Prints the environment variables that a client needs, one per line. */
export async function main(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      folder: { type: "string", default: ".aws-local" },
      port: { type: "string", default: "4566" },
      "key-id": { type: "string", default: "test" },
      secret: { type: "string", default: "test" },
      functions: { type: "string" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return void process.stdout.write(usage);
  const aws = await openAws({
    dataDir: resolve(values.folder),
    port: Number(values.port),
    accessKeyId: values["key-id"],
    secretAccessKey: values.secret,
    functions: values.functions === undefined ? {} : await loadFunctions(values.functions),
    warn: (sentence) => process.stderr.write(`${sentence}\n`),
  });
  for (const [name, value] of Object.entries(aws.environment)) process.stdout.write(`export ${name}=${value}\n`);
  await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
  await aws.close();
}

async function loadFunctions(path: string): Promise<LambdaFunctions> {
  const { functions } = (await import(pathToFileURL(resolve(path)).href)) as { functions?: LambdaFunctions };
  if (functions) return functions;
  throw new TypeError(`${path} has no export "functions" - export an object from names to { handler, timeoutSeconds }`);
}
