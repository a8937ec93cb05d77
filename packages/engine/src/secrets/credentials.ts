import type { Member } from "@nova/workflow";
import { z } from "zod";
import { NovaError, recoverFrom } from "../errors.ts";
import {
  type CredentialCipher,
  type CredentialKindName,
  type CredentialOwner,
  type CredentialRecord,
  type CredentialStore,
  type Credentials,
  HostRefused,
  type OutgoingFetch,
} from "../ports/credentials.ts";
import {
  type CredentialContent,
  CredentialLocked,
  kindOf,
  OAuth2,
  openContent,
  ownerText,
  replacing,
  sealRecord,
  secretsIn,
  TokenEndpointLost,
  TokenRefused,
} from "./credential-kinds.ts";
import { emptyOverlay } from "./overlay.ts";

/**
 * How long this process uses credentials in memory before it reads them again. Until then, this process does not notice
 * a change by another process.
 */
const rememberedMs = 60_000;

/**
 * Opens credentials. It reads the credentials of an owner at most once a minute. It reads them earlier if a credential
 * is missing, or if this process has changed one.
 */
export function createCredentials(parts: CredentialParts): Credentials {
  const remembered = new Map<string, { readAtMs: number; credentials: Promise<OwnedCredential[]> }>();
  const ofOwner = (owner: CredentialOwner): Promise<OwnedCredential[]> => {
    const known = remembered.get(ownerText(owner));
    if (known && parts.now() - known.readAtMs < rememberedMs) return known.credentials;
    const reading = parts.store.list(owner);
    const credentials = reading.then((records) => records.map((record) => new OwnedCredential(parts.cipher, record)));
    credentials.catch(() => remembered.delete(ownerText(owner)));
    remembered.set(ownerText(owner), { readAtMs: parts.now(), credentials });
    return credentials;
  };
  const forget = (owner: CredentialOwner) => void remembered.delete(ownerText(owner));
  /** A client's own credential wins over the workflow's credential of the same name. */
  const all = async (client: string, workflow: string | null) => {
    const found = await Promise.all(ownersOf(client, workflow).map(ofOwner));
    const weakestFirst = found.reverse().flat();
    return new Map(weakestFirst.map((credential) => [credential.record.name, credential]));
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
        hosts: [...new Set(opened.flatMap(({ kind, content }) => kindOf(kind).hosts(content.values)))],
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

async function openForUse(parts: CredentialParts, credential: OwnedCredential, asStored: boolean) {
  const { name, kind, owner } = credential.record;
  try {
    const isRefreshed = kind === "oauth2" && !asStored;
    const content = await (isRefreshed
      ? credential.refreshed(() => freshContent(parts, credential))
      : credential.content());
    return { name, kind, content };
  } catch (error) {
    if (!(error instanceof CredentialLocked || error instanceof TokenRefused)) throw error;
    const whose = ownerText(owner).replace(":", " ");
    throw new NovaError("NodeFailed", `credential "${name}" of ${whose}: ${error.message}`, { cause: error });
  }
}

async function secretsUnlessLocked(credential: OwnedCredential): Promise<string[]> {
  const { kind } = credential.record;
  return credential
    .content()
    .then((content) => secretsIn(kind, content))
    .catch(recoverFrom(CredentialLocked, () => []));
}

function missing(name: string, client: string): never {
  const wayOut = `store it with \`nova credentials set ${client} ${name}\`, or take it out of "credentials"`;
  throw new NovaError("NodeFailed", `client "${client}" has no credential "${name}" - ${wayOut}`);
}

type OpenCredential = Awaited<ReturnType<typeof openForUse>>;

/**
 * Returns the members that credentials add to a context. The keys have the name of their credential as a prefix, except
 * for the first credential of each kind.
 */
function flatMembers(credentials: readonly OpenCredential[]): Member[] {
  const seen = new Set<CredentialKindName>();
  return inOrder(credentials).flatMap(({ name, kind, content }) => {
    const prefix = seen.has(kind) && kind !== "custom" ? `${name}_` : "";
    seen.add(kind);
    const fields = Object.entries(kindOf(kind).flatten(content.values, name));
    return fields.map(([field, value]) => ({ key: prefix + field, json: JSON.stringify(value) }));
  });
}

/** Puts credentials that have the name of their kind first. The other credentials keep their order. */
function inOrder(credentials: readonly OpenCredential[]): OpenCredential[] {
  const isNamesake = ({ name, kind }: OpenCredential) => name === kind;
  return [...credentials.filter(isNamesake), ...credentials.filter((one) => !isNamesake(one))];
}

interface CredentialParts {
  store: CredentialStore;
  cipher: CredentialCipher;
  now(): number;
  sleep(ms: number): Promise<unknown>;
  fetch: OutgoingFetch;
}

/** A credential in memory. NOVA decrypts it only once, at its first use. */
class OwnedCredential {
  record: CredentialRecord;
  readonly #cipher: CredentialCipher;
  #opening: Promise<CredentialContent> | undefined;
  #refreshing: Promise<CredentialContent> | undefined;

  constructor(cipher: CredentialCipher, record: CredentialRecord) {
    this.#cipher = cipher;
    this.record = record;
  }

  /** Throws `CredentialLocked`. */
  content(): Promise<CredentialContent> {
    this.#opening ??= openContent(this.#cipher, this.record).catch((error) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  /**
   * Shares one running refresh among all nodes that need a token at this time. If the endpoint does not answer, later
   * nodes get the same error without a further call.
   */
  refreshed(refresh: () => Promise<CredentialContent>): Promise<CredentialContent> {
    if (this.#refreshing) return this.#refreshing;
    const refreshing = refresh();
    const forget = (error?: unknown) => {
      if (!(error instanceof TokenEndpointLost)) this.#refreshing = undefined;
    };
    refreshing.then(() => forget(), forget);
    this.#refreshing = refreshing;
    return refreshing;
  }

  /** Uses a later revision of the record, which this process has written or read. */
  become(record: CredentialRecord, content?: CredentialContent): void {
    this.record = record;
    this.#opening = content && Promise.resolve(content);
  }
}

/**
 * The largest number of tries to store a new token. A try fails only if another process has changed the credential
 * meanwhile.
 */
const maxTries = 3;

/**
 * Returns the content with an access token that is valid for at least a minute. NOVA stores a new token before code
 * uses it. Throws `TokenRefused` if the endpoint gives no token, or if other processes keep changing the credential.
 */
async function freshContent(parts: CredentialParts, credential: OwnedCredential): Promise<CredentialContent> {
  for (let tries = 1; ; tries++) {
    const content = await credential.content();
    const values = OAuth2.parse(content.values);
    if (isFresh(values, parts.now())) return content;
    try {
      const refreshed = await refresh(parts, credential.record, content, values);
      if (refreshed) {
        credential.become(refreshed.record, refreshed.content);
        return refreshed.content;
      }
    } catch (error) {
      // Some servers replace the refresh token at each use. If another process used the refresh token first, the server
      // refuses the old token here, and the loop reads the new token.
      if (!(error instanceof TokenRefused) || !(await isOvertaken(parts, credential))) throw error;
    }
    if (tries === maxTries) throw new TokenRefused("others keep changing it - try again in a minute");
    await readAgain(parts, credential);
  }
}

async function refresh(parts: CredentialParts, old: CredentialRecord, content: CredentialContent, values: OAuth2) {
  const next = replacing(await askToken(values, parts), { kind: "oauth2", content }, parts.now());
  const { owner, name, kind, changedAt, revision } = old;
  const record = await sealRecord(parts.cipher, { owner, name, kind, changedAt, revision: revision + 1 }, next);
  return (await parts.store.put(record)) ? { record, content: next } : undefined;
}

async function isOvertaken({ store }: CredentialParts, { record }: OwnedCredential): Promise<boolean> {
  return (await store.get(record))?.revision !== record.revision;
}

async function readAgain({ store }: CredentialParts, credential: OwnedCredential): Promise<void> {
  const record = await store.get(credential.record);
  if (!record) throw new TokenRefused("it was removed meanwhile");
  credential.become(record);
}

/** The shortest remaining lifetime of a token, in milliseconds. NOVA replaces a token that expires sooner. */
const leastLifeMs = 60_000;
/** Pauses between calls of an endpoint that does not answer. Most servers restart within seconds. */
const pausesMs = [1_000, 2_000, 4_000, 8_000];
/** The assumed lifetime of a token if the answer has no `expires_in`, which RFC 6749 makes optional. */
const usualLifeSeconds = 3600;

const Token = z.object({
  access_token: z.string().min(4),
  expires_in: z.coerce.number().positive().optional(),
  /** Some servers return a new refresh token at each use. */
  refresh_token: z.string().min(4).optional(),
});

/** Thrown if the token endpoint did not answer, or answered that it is temporarily unavailable. */
class Unanswered extends Error {
  override name = "Unanswered";
}

function isFresh({ access_token, expires_at }: OAuth2, nowMs: number): boolean {
  if (access_token === undefined) return false;
  return expires_at === undefined || Date.parse(expires_at) - nowMs > leastLifeMs;
}

/**
 * Returns `values` with a new access token (RFC 6749, 4.4 and 6). Throws `TokenRefused` if the endpoint refuses, and
 * `TokenEndpointLost` if it answers none of the requests.
 */
async function askToken(values: OAuth2, parts: CredentialParts): Promise<OAuth2> {
  for (let tries = 1; ; tries++) {
    try {
      return await askOnce(values, parts);
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error;
      const pauseMs = pausesMs[tries - 1];
      if (pauseMs === undefined) throw lost(values, tries, error);
      await parts.sleep(pauseMs);
    }
  }
}

async function askOnce(values: OAuth2, parts: CredentialParts): Promise<OAuth2> {
  const response = await answerOf(values, parts);
  const token = Token.safeParse(await response.json().catch(() => null));
  if (response.status >= 500 || response.status === 429) throw new Unanswered(`answered ${response.status}`);
  if (!response.ok || !token.success) {
    throw new TokenRefused(
      `its token endpoint answered ${response.status} and no access token - store the credential again`,
    );
  }
  const { access_token, expires_in = usualLifeSeconds, refresh_token } = token.data;
  return {
    ...values,
    access_token,
    expires_at: new Date(parts.now() + expires_in * 1000).toISOString(),
    ...(refresh_token !== undefined && { refresh_token }),
  };
}

async function answerOf(values: OAuth2, { fetch: call }: CredentialParts): Promise<Response> {
  const { token_url, client_id, client_secret, refresh_token, scope } = values;
  const grant = refresh_token === undefined ? "client_credentials" : "refresh_token";
  const form = Object.entries({ grant_type: grant, refresh_token, client_id, client_secret, scope });
  const body = new URLSearchParams(form.filter((field): field is [string, string] => field[1] !== undefined));
  try {
    return await call(token_url, { method: "POST", body, headers: { accept: "application/json" } });
  } catch (cause) {
    if (cause instanceof HostRefused) throw new TokenRefused(`its token_url is refused: ${cause.message}`, { cause });
    throw new Unanswered("does not answer", { cause });
  }
}

function lost({ token_url }: OAuth2, tries: number, cause: Unanswered): TokenEndpointLost {
  const what = `its token endpoint ${new URL(token_url).host} ${cause.message}, in ${tries} tries`;
  return new TokenEndpointLost(`${what} - correct its token_url, or start the run again when it is there`, { cause });
}
