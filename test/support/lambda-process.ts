import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** The answer or the error of one call of a function. */
export type Answered = { answer: unknown } | { error: { name: string; message: string } };

const runtime = `
const [module, event] = process.argv.slice(1);
const { handler } = await import(module);
const ends = Date.now() + 60_000;
const context = { awsRequestId: "request-1", getRemainingTimeInMillis: () => ends - Date.now() };
const ended = await handler(JSON.parse(event), context).then(
  (answer) => ({ answer }),
  ({ name, message }) => ({ error: { name, message } }),
);
// The process exits in this callback, because otherwise it could exit before the whole answer is in the pipe.
process.stdout.write("\\n" + JSON.stringify(ended), () => process.exit());
`;

/** Starts a bundle as Lambda does, with only `variables` in its environment, and calls its handler once. */
export async function callInFreshProcess(
  file: string,
  event: object,
  variables: Record<string, string | undefined>,
): Promise<Answered> {
  const script = ["--input-type=module", "--eval", runtime, file, JSON.stringify(event)];
  const { stdout } = await promisify(execFile)(process.execPath, script, { env: variables, timeout: 60_000 });
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
}
