import { resolve } from "node:path";
import type { FormatState, StoredFormat } from "@nova/service";
import { sumFormats, surveyAll } from "@nova/service";
import { defined } from "@nova/workflow/defined";
import { askApi, connectServer } from "../api/ask.ts";
import { serverSource, storedSource, writeExport } from "../archive/export.ts";
import { files, type Manifest } from "../archive/format.ts";
import type { Restored } from "../archive/import.ts";
import { checkExport, demandTrust, explainUnverified, readSecretsOf, restore } from "../archive/import.ts";
import { dataFolder, withCloud, withDeployed } from "../cloud.ts";
import { exitCodes, InvalidInput } from "../errors.ts";
import { print, styled } from "../output/terminal.ts";
import { tableLines } from "../output/text.ts";
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
  if (aws) return withDeployed((ports) => writeExport(storedSource(ports, client), folder, { client: client ?? null }));
  const server = await connectServer();
  if (server) {
    if (client === undefined) throw new InvalidInput("a server exports one client at a time - name it with --client");
    return writeExport(serverSource(server, client), folder, { client });
  }
  const { readSecrets } = await import("@nova/local");
  return withCloud(async ({ service, dataDir }) => {
    const secrets = client === undefined ? JSON.stringify(await readSecrets(dataDir)) : undefined;
    return writeExport(storedSource(service, client), folder, defined({ client: client ?? null, secrets }));
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
    const { items, objects, kept, leftOut, client } = await importFrom(folder, { aws, unverified, everything });
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

type ImportOptions = Record<"aws" | "unverified" | "everything", boolean>;

async function importFrom(folder: string, { aws, unverified, everything }: ImportOptions): Promise<Restored> {
  const manifest = await checkExport(folder, { isTrusted: unverified });
  const secrets = await readSecretsOf(folder, manifest);
  const check = async (signer: Parameters<typeof explainUnverified>[1]) => {
    const why = await explainUnverified(manifest, signer);
    const isVerified = why === undefined;
    if (!isVerified) demandTrust(folder, why, unverified);
    return { client: manifest.client, isVerified, bringsEverything: isVerified || everything };
  };
  if (aws) return withDeployed(async (ports) => restore(ports, folder, await check(ports.signer)));
  const dataDir = resolve(dataFolder());
  const [{ createKeySigner }, local] = await Promise.all([import("@nova/aws"), import("@nova/local")]);
  const { signingKey } = secrets ?? (await local.readSecretsIfThere(dataDir)) ?? {};
  const checked = await check(signingKey === undefined ? undefined : createKeySigner(signingKey));
  // The secrets are restored before the cloud opens, because an open cloud signs with the secrets that it read when it
  // opened.
  if (secrets) await local.restoreSecrets(dataDir, secrets);
  return withCloud(({ service }) => restore(service, folder, checked));
}

const meanings: Record<FormatState, string> = {
  current: "written by this version",
  older: "older; readable, and never rewritten",
  newer: "newer than this version, which cannot read it - update NOVA",
  unknown: "unknown to this version - update NOVA",
};

export const upgrade = command({
  summary: "check whether this version can read all stored data",
  takes: {
    "--check": "only check; stored formats are never rewritten",
    "--aws": "the deployment whose table NOVA_TABLE names",
  },
  async run(_, { check, aws }) {
    if (!check) throw new InvalidInput("nova upgrade needs --check, which lists the stored formats");
    const found = await readFormats(aws === true);
    const readable = found.every(({ state }) => state === "current" || state === "older");
    const verdict = readable ? "this version reads all of it" : "this version does not read all of it";
    const rows = found.map(({ entity, format, items, state }) => {
      return [entity, format === null ? "-" : String(format), String(items), meanings[state]];
    });
    const lines = tableLines(["kind", "format", "items", "is"], rows);
    return {
      json: { readable, formats: found },
      text: found.length === 0 ? "no data is stored yet" : [...lines, styled(readable ? "green" : "red", verdict)],
      code: readable ? exitCodes.completed : exitCodes.failed,
    };
  },
});

async function readFormats(aws: boolean): Promise<StoredFormat[]> {
  if (aws) return withDeployed(surveyAll);
  return sumFormats(await askApi((nova) => Array.fromAsync(nova.list("/formats", {}))));
}
