import { resolve } from "node:path";
import { defined } from "@nova/workflow/defined";
import { serverHere } from "../api/ask.ts";
import { files, type Manifest } from "../archive/format.ts";
import type { Restored } from "../archive/restore.ts";
import { dataFolder, withCloud } from "../cloud.ts";
import { InvalidInput } from "../errors.ts";
import { print } from "../output/terminal.ts";
import { command } from "./command.ts";

export const exportAll = command({
  summary: "write everything that is stored, or all of a client, into a folder that nova import takes",
  takes: {
    "<folder>": "",
    "--client <slug>": "only this client's runs, with all that proves them",
    "--aws": "the deployment whose table and bucket NOVA_TABLE and NOVA_BUCKET name",
  },
  json: false,
  async run([folder = ""], { client, aws = false }) {
    const { items, objects, seal } = await exportTo(folder, client, aws);
    print(`${folder} holds ${items} items and ${objects} objects`);
    const wayOut = aws ? "name the signing key in NOVA_SIGNING_KMS_KEY" : "update the server";
    const unsealed = "nothing in it proves what was exported, so nova import will ask for --unverified";
    if (seal === undefined) print(`${unsealed} - ${wayOut}, and export again`);
    if (client === undefined && !aws) print(`${files.secrets} in it opens and signs all of it: keep it safe`);
    return undefined;
  },
});

async function exportTo(folder: string, client: string | undefined, aws: boolean): Promise<Manifest> {
  const [{ writeExport }, source] = await Promise.all([import("../archive/write.ts"), import("../archive/source.ts")]);
  if (aws) {
    const { withDeployed } = await import("../archive/deployed.ts");
    return withDeployed((ports) => writeExport(source.storedSource(ports, client), folder, { client: client ?? null }));
  }
  const server = await serverHere();
  if (server) {
    if (client === undefined) throw new InvalidInput("a server exports one client at a time - name it with --client");
    return writeExport(source.serverSource(server, client), folder, { client });
  }
  const { readSecrets } = await import("@nova/local");
  return withCloud(async ({ service, dataDir }) => {
    const secrets = client === undefined ? JSON.stringify(await readSecrets(dataDir)) : undefined;
    return writeExport(source.storedSource(service, client), folder, defined({ client: client ?? null, secrets }));
  });
}

export const importAll = command({
  summary: "bring back what nova export wrote; what is there stays as it is",
  takes: {
    "<folder>": "",
    "--unverified": "also where nothing proves that the folder is what was exported",
    "--everything":
      "with --unverified: also keys, triggers and workflows of all clients, if the folder is a whole export",
    "--aws": "into the deployment whose table and bucket NOVA_TABLE and NOVA_BUCKET name",
  },
  json: false,
  async run([folder = ""], { aws = false, unverified = false, everything = false }) {
    if (!aws && process.env.NOVA_URL) {
      const why = "through no API is a record written of what happened; restore with --aws, or unset NOVA_URL";
      throw new InvalidInput(`nova import knows no server: ${why}`);
    }
    const { items, objects, kept, leftOut, client } = await importFrom(folder, {
      aws,
      isTrusted: unverified,
      everything,
    });
    const told = [
      `brought back ${items} items and ${objects} objects`,
      client === null && "this was all of a NOVA: its API keys open this one from now on",
      kept > 0 && `${kept} items were there already`,
      leftOut > 0 && `${leftOut} were left out: of one client's export its own records come back, without keys`,
    ];
    print(told.filter(Boolean).join("; "));
    return undefined;
  },
});

interface ImportOptions {
  aws: boolean;
  isTrusted: boolean;
  everything: boolean;
}

async function importFrom(folder: string, { aws, isTrusted, everything }: ImportOptions): Promise<Restored> {
  const { checkExport, whyUnverified, demandTrust, readSecretsOf } = await import("../archive/check.ts");
  const { restore } = await import("../archive/restore.ts");
  const manifest = await checkExport(folder, { isTrusted });
  const secrets = await readSecretsOf(folder, manifest);
  const check = async (signer: Parameters<typeof whyUnverified>[1]) => {
    const why = await whyUnverified(manifest, signer);
    if (why !== undefined) demandTrust(folder, why, isTrusted);
    return {
      client: manifest.client,
      isVerified: why === undefined,
      bringsEverything: why === undefined || everything,
    };
  };
  if (aws) {
    const { withDeployed } = await import("../archive/deployed.ts");
    return withDeployed(async (ports) => restore(ports, folder, await check(ports.signer)));
  }
  const dataDir = resolve(dataFolder());
  const [{ createKeySigner }, local] = await Promise.all([import("@nova/aws"), import("@nova/local")]);
  const { signingKey } = secrets ?? (await local.readSecretsIfThere(dataDir)) ?? {};
  const checked = await check(signingKey === undefined ? undefined : createKeySigner(signingKey));
  // Before the cloud is opened, which signs with what it finds.
  if (secrets) await local.restoreSecrets(dataDir, secrets);
  return withCloud(({ service }) => restore(service, folder, checked));
}
