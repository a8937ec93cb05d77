import { NovaError } from "../../errors.ts";
import type { Member } from "../../json/text.ts";
import type { CredentialKindName, CredentialOwner, Credentials } from "../../ports/credentials.ts";
import { emptyOverlay } from "../overlay.ts";
import { TokenRefused } from "./ask-token.ts";
import { type CredentialContent, CredentialLocked, ownerText, secretsIn } from "./content.ts";
import { type CredentialValues, kindOf } from "./kinds.ts";
import { type CredentialParts, freshContent, type OwnedCredential, readOwned } from "./owned.ts";

/** A credential that was stored elsewhere counts here after so long at the latest. */
const rememberedMs = 60_000;

interface Remembered {
  readAtMs: number;
  credentials: Promise<OwnedCredential[]>;
}

/** Opened credentials. What an owner has is read once a minute; what this process stores itself counts at once. */
export function createCredentials(parts: CredentialParts): Credentials {
  const remembered = new Map<string, Remembered>();
  const ofOwner = (owner: CredentialOwner): Promise<OwnedCredential[]> => {
    const known = remembered.get(ownerText(owner));
    if (known && parts.now() - known.readAtMs < rememberedMs) return known.credentials;
    const credentials = readOwned(parts, owner);
    credentials.catch(() => remembered.delete(ownerText(owner)));
    remembered.set(ownerText(owner), { readAtMs: parts.now(), credentials });
    return credentials;
  };
  const forget = (owner: CredentialOwner) => void remembered.delete(ownerText(owner));
  /** A client's own wins over the workflow's of the same name. */
  const all = async (client: string, workflow: string | null) => {
    const found = await Promise.all(ownersOf(client, workflow).map(ofOwner));
    return new Map(
      found
        .reverse()
        .flat()
        .map((credential) => [credential.record.name, credential]),
    );
  };
  return {
    forget,
    async forNode(client, workflow, names, { asStored } = { asStored: false }) {
      if (names?.length === 0) return emptyOverlay;
      let found = await all(client, workflow);
      if (names?.some((name) => !found.has(name))) {
        for (const owner of ownersOf(client, workflow)) forget(owner);
        found = await all(client, workflow);
      }
      const chosen = names ? names.map((name) => found.get(name) ?? missing(name, client)) : [...found.values()];
      if (chosen.length === 0) return emptyOverlay;
      const opened = await Promise.all(chosen.map((one) => openForUse(parts, one, asStored)));
      return {
        members: flatMembers(opened),
        secrets: opened.flatMap(({ kind, content }) => secretsIn(kind, content)),
        hosts: [...new Set(opened.flatMap(({ kind, values }) => kindOf(kind).hosts(values)))],
      };
    },
    async secretsOf(client, workflow) {
      const found = await all(client, workflow);
      const texts = await Promise.all([...found.values()].map(secretsUnlessLocked));
      return texts.flat();
    },
  };
}

function ownersOf(client: string, workflow: string | null): CredentialOwner[] {
  return workflow === null ? [{ client }] : [{ client }, { workflow }];
}

async function openForUse(
  parts: CredentialParts,
  credential: OwnedCredential,
  asStored: boolean,
): Promise<OpenCredential & { content: CredentialContent }> {
  const { name, kind, owner } = credential.record;
  try {
    const content = await (kind === "oauth2" && !asStored ? freshContent(parts, credential) : credential.content());
    return { name, kind, values: content.values, content };
  } catch (error) {
    if (!(error instanceof CredentialLocked || error instanceof TokenRefused)) throw error;
    const whose = ownerText(owner).replace(":", " ");
    throw new NovaError("NodeFailed", `credential "${name}" of ${whose}: ${error.message}`, { cause: error });
  }
}

async function secretsUnlessLocked(credential: OwnedCredential): Promise<string[]> {
  try {
    return secretsIn(credential.record.kind, await credential.content());
  } catch (error) {
    if (error instanceof CredentialLocked) return [];
    throw error;
  }
}

function missing(name: string, client: string): never {
  const wayOut = `store it with \`nova credentials set ${client} ${name}\`, or take it out of "credentials"`;
  throw new NovaError("NodeFailed", `client "${client}" has no credential "${name}" - ${wayOut}`);
}

interface OpenCredential {
  name: string;
  kind: CredentialKindName;
  values: CredentialValues;
}

/** What lies over the context by flat names. Only the first of a kind has them without a prefix. */
function flatMembers(credentials: readonly OpenCredential[]): Member[] {
  const seen = new Set<CredentialKindName>();
  return inOrder(credentials).flatMap(({ name, kind, values }) => {
    const prefix = seen.has(kind) && kind !== "custom" ? `${name}_` : "";
    seen.add(kind);
    return Object.entries(kindOf(kind).flatten(values, name)).map(([field, value]) => ({
      key: prefix + field,
      json: JSON.stringify(value),
    }));
  });
}

/** The one that is called like its kind is the first of it; the others stay as they are. */
function inOrder(credentials: readonly OpenCredential[]): OpenCredential[] {
  const isNamesake = ({ name, kind }: OpenCredential) => name === kind;
  return [...credentials.filter(isNamesake), ...credentials.filter((one) => !isNamesake(one))];
}
