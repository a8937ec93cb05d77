import { serverHere } from "../api/ask.ts";
import { files, type Manifest } from "../archive/format.ts";
import { withCloud } from "../cloud.ts";
import { exitCodes, InvalidInput } from "../errors.ts";
import { print } from "../output/terminal.ts";
import type { CliCommand } from "./command.ts";

export const exportAll: CliCommand = {
  declare: (command) =>
    command
      .summary("write everything that is stored, or all of a client, into a folder that nova import takes")
      .argument("<folder>")
      .option("--client <slug>", "only this client's runs, with all that proves them")
      .option("--aws", "the deployment whose table and bucket NOVA_TABLE and NOVA_BUCKET name"),

  async run([folder = ""], { client, aws }) {
    const slug = typeof client === "string" ? client : undefined;
    const { items, objects, seal } = await exportTo(folder, slug, aws === true);
    print(`${folder} holds ${items} items and ${objects} objects`);
    if (seal === undefined) print(unsealed(aws === true));
    if (slug === undefined && !aws) print(`${files.secrets} in it opens and signs all of it: keep it safe`);
    return exitCodes.completed;
  },
};

function unsealed(aws: boolean): string {
  const wayOut = aws ? "name the signing key in NOVA_SIGNING_KMS_KEY" : "update the server";
  return `nothing in it proves what was exported, so nova import will ask for --unverified - ${wayOut}, and export again`;
}

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
  return withCloud(async ({ service, dataDir }) => {
    const secrets = client === undefined ? JSON.stringify(await secretsOf(dataDir)) : undefined;
    const of = { client: client ?? null, ...(secrets !== undefined && { secrets }) };
    return writeExport(source.storedSource(service, client), folder, of);
  });
}

async function secretsOf(dataDir: string) {
  const { readSecrets } = await import("@nova/local");
  return readSecrets(dataDir);
}
