import { join } from "node:path";
import type { Archive, Claim } from "@nova/service";
import { InvalidInput } from "../errors.ts";
import { eachLine, files } from "./format.ts";

/** What the import of one client brings back of its export. */
export interface Own {
  brings(item: string): boolean;
  bringsObject(key: string): boolean;
}

type OwnArchive = Pick<Archive, "claim" | "clientOf" | "hasWorkflow">;

/** Kinds that may come back unverified. Others act: code runs, a delivery keeps a real one out, the audit tells lies. */
const harmless = new Set([
  "client",
  "credential",
  "execution",
  "label",
  "link",
  "note",
  "spending",
  "stats",
  "step",
  "version",
]);

/**
 * The client of an export that nothing proves, although it claims to be all of a NOVA: anyone can write such a claim into
 * the folder of one client, and it would bring API keys back. Throws `InvalidInput` unless its records name one client.
 */
export async function demandOneClient(archive: Pick<Archive, "claim">, folder: string): Promise<string> {
  const clients = new Set<string>();
  await eachLine(join(folder, files.items), async (item) => {
    const client = archive.claim(item)?.client;
    if (client !== undefined) clients.add(client);
  });
  const [client, ...others] = clients;
  if (client !== undefined && others.length === 0) return client;
  const found = client === undefined ? "no client" : `${clients.size} clients`;
  throw new InvalidInput(
    `"${folder}" is not verified, and has records of ${found} - if you trust it with the API keys, triggers and workflows of all, add --everything`,
  );
}

/**
 * Reads which records of an export are the client's own: its runs, and the versions that they ran. Keys, and what clients
 * share, belong to nobody's export of one client. Throws `InvalidInput` where a run is another client's here.
 */
export async function readOwn(
  archive: OwnArchive,
  folder: string,
  { client, isVerified }: { client: string; isVerified: boolean },
): Promise<Own> {
  const isTrusted = ({ kind, isOpen }: Claim) => isVerified || (harmless.has(kind) && !isOpen);
  const executions = new Set<string>();
  const versions = new Map<string, Set<number>>();
  await eachLine(join(folder, files.items), async (item) => {
    const claim = archive.claim(item);
    if (claim?.kind !== "execution" || claim.client !== client || !isTrusted(claim)) return;
    const { execution = "", version = { workflow: "", number: 0 } } = claim;
    const owner = await archive.clientOf(execution);
    if (owner !== undefined && owner !== client) {
      throw new InvalidInput(
        `execution ${execution} of the export is another client's here - nothing was brought back`,
      );
    }
    executions.add(execution);
    versions.set(version.workflow, (versions.get(version.workflow) ?? new Set()).add(version.number));
  });
  // All clients share a workflow: another version of one that is here would be what everybody runs next.
  for (const workflow of isVerified ? [] : versions.keys())
    if (await archive.hasWorkflow(workflow)) versions.delete(workflow);
  return {
    brings(item) {
      const claim = archive.claim(item);
      if (!claim || !isTrusted(claim)) return false;
      const { workflow = "", number = 0 } = claim.version ?? {};
      if (claim.kind === "version") return versions.get(workflow)?.has(number) === true;
      const isOwn = claim.client === undefined || claim.client === client;
      return isOwn && (claim.execution === undefined || executions.has(claim.execution));
    },
    bringsObject(key) {
      const [place, name = ""] = key.split("/");
      return place === "blobs" ? name === client : versions.has(name);
    },
  };
}
