import { resolve } from "node:path";
import { defined } from "@nova/workflow/defined";
import { connectServer } from "../api/ask.ts";
import { files, type Manifest } from "../archive/format.ts";
import type { Restored } from "../archive/restore.ts";
import { dataFolder, withCloud } from "../cloud.ts";
import { InvalidInput } from "../errors.ts";
import { print } from "../output/terminal.ts";
import { command } from "./command.ts";

export const exportAll = command({
  summary: "write all stored data, or the data of a client, into a folder for nova import",
  takes: {
    "<folder>": "",
    "--client <slug>": "only this client's runs, with their proofs",
    "--aws": "the deployment whose table and bucket NOVA_TABLE and NOVA_BUCKET name",
  },
  json: false,
  async run([folder = ""], { client, aws = false }) {
    const { items, objects, seal } = await exportTo(folder, client, aws);
    print(`${folder} holds ${items} items and ${objects} objects`);
    const wayOut = aws ? "name the signing key in NOVA_SIGNING_KMS_KEY" : "update the server";
    const unsealed = "the export has no signature, so nova import needs --unverified";
    if (seal === undefined) print(`${unsealed} - ${wayOut}, and export again`);
    if (client === undefined && !aws)
      print(`${files.secrets} in it decrypts and signs all of it: store it in a safe place`);
    return undefined;
  },
});

async function exportTo(folder: string, client: string | undefined, aws: boolean): Promise<Manifest> {
  const [{ writeExport }, source] = await Promise.all([import("../archive/write.ts"), import("../archive/source.ts")]);
  if (aws) {
    const { withDeployed } = await import("../archive/deployed.ts");
    return withDeployed((ports) => writeExport(source.storedSource(ports, client), folder, { client: client ?? null }));
  }
  const server = await connectServer();
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
  summary: "restore an export of nova export; existing items stay unchanged",
  takes: {
    "<folder>": "",
    "--unverified": "also without a proof that the folder is unchanged",
    "--everything":
      "with --unverified: also keys, triggers and workflows of all clients, if the folder is a full export",
    "--aws": "into the deployment whose table and bucket NOVA_TABLE and NOVA_BUCKET name",
  },
  json: false,
  async run([folder = ""], { aws = false, unverified = false, everything = false }) {
    if (!aws && process.env.NOVA_URL) {
      const why = "the API does not accept existing records - restore with --aws, or unset NOVA_URL";
      throw new InvalidInput(`nova import cannot use a server: ${why}`);
    }
    const { items, objects, kept, leftOut, client } = await importFrom(folder, {
      aws,
      isTrusted: unverified,
      everything,
    });
    const parts = [
      `restored ${items} items and ${objects} objects`,
      client === null && "this was a full export: its API keys are now valid here",
      kept > 0 && `${kept} items existed already`,
      leftOut > 0 && `${leftOut} were left out: an export of one client restores only its own records, without keys`,
    ];
    print(parts.filter(Boolean).join("; "));
    return undefined;
  },
});

interface ImportOptions {
  aws: boolean;
  isTrusted: boolean;
  everything: boolean;
}

async function importFrom(folder: string, { aws, isTrusted, everything }: ImportOptions): Promise<Restored> {
  const {
    checkExport,
    explainUnverified: whyUnverified,
    demandTrust,
    readSecretsOf,
  } = await import("../archive/check.ts");
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
  // The restored secrets must exist before the cloud opens, because it signs with the secrets that it finds.
  if (secrets) await local.restoreSecrets(dataDir, secrets);
  return withCloud(({ service }) => restore(service, folder, checked));
}
