import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { uploadPage } from "@nova/aws/page";
import { buildPage } from "@nova/console/build";
import { configName, getCacheControl, pageTypes, renderPageConfig } from "@nova/console/serving";
import { buildTemplates, findOutput, type Nova, type Outputs, publishFolders } from "./publish-folders.ts";
import { splitList } from "./settings.ts";
import { outputsFile, sstDeploy } from "./sst.ts";

const root = fileURLToPath(new URL("../", import.meta.url));

/**
 * Variables of the shell that `nova` does not get here, because they may refer to another deployment or to the local
 * cloud.
 */
const otherTargets = ["NOVA_URL", "NOVA_API_KEY", "NOVA_TABLE", "NOVA_DATA_DIR"];

const nova: Nova = async (args, variables) => {
  const own = Object.entries(process.env).filter(([name]) => !otherTargets.includes(name));
  const env = { AWS_REGION: "us-east-1", ...Object.fromEntries(own), ...variables };
  const { stdout } = await promisify(execFile)("nova", args, { cwd: root, env });
  return stdout;
};

async function outputs(): Promise<Outputs> {
  return JSON.parse(await readFile(outputsFile(root), "utf8"));
}

/**
 * Runs `npm run deploy`: deploys the stacks and the console, then builds sandbox templates and publishes the folders of
 * `NOVA_WORKFLOWS`.
 */
async function deploy(args: readonly string[]): Promise<number> {
  const code = await sstDeploy(root, args);
  if (code !== 0) return code;
  process.env.AWS_REGION ??= "us-east-1";
  const name = findOutput(await outputs(), "console", "Pages");
  if (name !== undefined) {
    const texts = { [configName]: renderPageConfig(process.env) };
    await uploadPage(await buildPage(), { name, types: pageTypes, texts, cacheControl: getCacheControl });
  }
  const folders = splitList(process.env.NOVA_WORKFLOWS);
  if (folders.length === 0) return 0;
  await buildTemplates(nova, folders);
  await publishFolders(nova, await outputs(), folders);
  process.stdout.write(`published ${folders.join(", ")}\n`);
  return 0;
}

process.exitCode = await deploy(process.argv.slice(2));
