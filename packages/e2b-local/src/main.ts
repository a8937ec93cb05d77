import { once } from "node:events";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { openE2b } from "./open.ts";
import { e2bPlans } from "./sandboxes.ts";

const usage = `usage: e2b-local [--port 4980] [--key e2b_local] [--module pandas]... [--packages folder]... [--plan none]

--module names a Python module that sandboxes import ahead; repeat it for more modules.
--packages names a folder that "pip install --target" filled; every sandbox can import from it.
--plan takes none, hobby or pro: the server enforces the limits of that plan of E2B.
E2B_LOCAL_PYTHON names the interpreter; by default it is the first Python on the PATH that has all modules.
`;

/** Serves E2B until Ctrl-C or SIGTERM. Prints the environment variables that a client needs, one per line. */
export async function main(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      port: { type: "string", default: "4980" },
      key: { type: "string", default: "e2b_local" },
      module: { type: "string", multiple: true, default: [] },
      packages: { type: "string", multiple: true, default: [] },
      plan: { type: "string", default: "none" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return void process.stdout.write(usage);
  if (!(values.plan in e2bPlans)) throw new RangeError(`no plan is called ${values.plan} - use none, hobby or pro`);
  const server = await openE2b({
    apiKey: values.key,
    port: Number(values.port),
    modules: values.module,
    sitePackages: values.packages.map((folder) => resolve(folder)),
    limits: e2bPlans[values.plan as keyof typeof e2bPlans],
    warn: (sentence) => process.stderr.write(`${sentence}\n`),
  });
  await server.ready();
  process.stdout.write(`export E2B_API_URL=${server.apiUrl}\n`);
  process.stdout.write(`export E2B_SANDBOX_URL=${server.sandboxUrl}\n`);
  process.stdout.write(`export E2B_API_KEY=${values.key}\n`);
  await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
  await server.close();
}
