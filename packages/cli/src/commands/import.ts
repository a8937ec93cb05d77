import { resolve } from "node:path";
import { refuseServer } from "../api/ask.ts";
import type { Restored } from "../archive/restore.ts";
import { dataFolder, withCloud } from "../cloud.ts";
import { exitCodes } from "../errors.ts";
import { print } from "../output/terminal.ts";
import type { CliCommand } from "./command.ts";

export const importAll: CliCommand = {
  declare: (command) =>
    command
      .summary("bring back what nova export wrote; what is there stays as it is")
      .argument("<folder>")
      .option("--unverified", "also where nothing proves that the folder is what was exported")
      .option("--aws", "into the deployment whose table and bucket NOVA_TABLE and NOVA_BUCKET name"),

  async run([folder = ""], { aws, unverified }) {
    if (!aws) refuseServer("nova import", "through no API is a record written of what happened; restore with --aws");
    const isTrusted = unverified === true;
    print(told(await (aws === true ? importToAws : importHere)(folder, isTrusted)));
    return exitCodes.completed;
  },
};

function told({ items, objects, kept, leftOut, client }: Restored): string {
  return [
    `brought back ${items} items and ${objects} objects`,
    ...(client === null ? ["this was all of a NOVA: its API keys open this one from now on"] : []),
    ...(kept > 0 ? [`${kept} items were there already`] : []),
    ...(leftOut > 0
      ? [`${leftOut} were left out: of one client's export its own records come back, without keys`]
      : []),
  ].join("; ");
}

async function importToAws(folder: string, isTrusted: boolean): Promise<Restored> {
  const { checkExport, restore, whyUnverified, demandTrust, readSecretsOf } = await parts();
  const manifest = await checkExport(folder, { isTrusted });
  await readSecretsOf(folder, manifest);
  const { withDeployed } = await import("../archive/deployed.ts");
  return withDeployed(async (ports) => {
    const why = await whyUnverified(manifest, ports.signer);
    if (why !== undefined) demandTrust(folder, why, isTrusted);
    return restore(ports, folder, { client: manifest.client, isVerified: why === undefined });
  });
}

async function importHere(folder: string, isTrusted: boolean): Promise<Restored> {
  const { checkExport, restore, whyUnverified, demandTrust, readSecretsOf } = await parts();
  const manifest = await checkExport(folder, { isTrusted });
  const secrets = await readSecretsOf(folder, manifest);
  const dataDir = resolve(dataFolder());
  const [{ createKeySigner }, { readSecretsIfThere, restoreSecrets }] = await Promise.all([
    import("@nova/aws"),
    import("@nova/local"),
  ]);
  const { signingKey } = secrets ?? (await readSecretsIfThere(dataDir)) ?? {};
  const why = await whyUnverified(manifest, signingKey === undefined ? undefined : createKeySigner(signingKey));
  if (why !== undefined) demandTrust(folder, why, isTrusted);
  // Before the cloud is opened, which signs with what it finds.
  if (secrets) await restoreSecrets(dataDir, secrets);
  return withCloud(({ service }) =>
    restore(service, folder, { client: manifest.client, isVerified: why === undefined }),
  );
}

async function parts() {
  const [check, restoring, verified] = await Promise.all([
    import("../archive/check.ts"),
    import("../archive/restore.ts"),
    import("../archive/check.ts"),
  ]);
  return { ...check, ...restoring, ...verified };
}
