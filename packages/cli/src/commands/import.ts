import { resolve } from "node:path";
import type { Restored } from "../archive/restore.ts";
import { withCloud } from "../cloud.ts";
import { dataFolder } from "../data-folder.ts";
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
  const [{ checkExport, readSecretsOf }, { restore }] = await Promise.all([
    import("../archive/check.ts"),
    import("../archive/restore.ts"),
  ]);
  await checkExport(folder);
  if (aws) {
    const { withDeployed } = await import("../archive/deployed.ts");
    return withDeployed((ports) => restore(ports, folder));
  }
  // Before the cloud is opened, which signs with what it finds.
  const secrets = await readSecretsOf(folder);
  const { restoreSecrets } = await import("@nova/local");
  if (secrets) await restoreSecrets(resolve(dataFolder()), secrets);
  return withCloud(({ service }) => restore(service, folder));
}
