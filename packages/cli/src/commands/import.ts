import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { files } from "../archive/format.ts";
import type { Restored } from "../archive/restore.ts";
import { withCloud } from "../cloud.ts";
import { exitCodes } from "../errors.ts";
import { refuseServer } from "../remote/server.ts";
import type { CliCommand } from "./command.ts";

export const importAll: CliCommand = {
  declare: (command) =>
    command
      .summary("bring back what nova export wrote; what is there stays as it is")
      .argument("<folder>")
      .option("--aws", "into the deployment whose table and bucket NOVA_TABLE and NOVA_BUCKET name"),

  async run([folder = ""], { aws }) {
    if (!aws) refuseServer("nova import", "through no API is a record written of what happened; restore with --aws");
    const { items, objects, kept } = await importFrom(folder, aws === true);
    const rest = kept > 0 ? `; ${kept} items were there already` : "";
    console.log(`brought back ${items} items and ${objects} objects${rest}`);
    return exitCodes.completed;
  },
};

async function importFrom(folder: string, aws: boolean): Promise<Restored> {
  const { readManifest, restore } = await import("../archive/restore.ts");
  await readManifest(folder);
  if (aws) {
    const { deployedPorts } = await import("../archive/deployed.ts");
    return restore(await deployedPorts(), folder);
  }
  await bringSecrets(folder);
  return withCloud(({ service }) => restore(service, folder));
}

/** Before the cloud is opened, which signs with what it finds. */
async function bringSecrets(folder: string): Promise<void> {
  const { restoreSecrets } = await import("@nova/local");
  const text = await readFile(join(folder, files.secrets), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text !== undefined) await restoreSecrets(resolve(process.env.NOVA_DATA_DIR ?? ".nova"), JSON.parse(text));
}
