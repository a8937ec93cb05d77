import { texts } from "../texts.ts";
import {
  buildSignOutUrl,
  type IssuerConfig,
  isRenewalDue,
  loadTokens,
  parseConfig,
  renewTokens,
  saveTokens,
  type Tokens,
} from "./issuer.ts";

/** Name under which this tab stores the key. The key stays in the tab and never appears in an address. */
const storedKey = "nova-key";

/** Returns the origin of the API: the content of the `nova-api` meta tag, or else the origin of the page. */
export function readApiUrl(): string {
  const named = document.querySelector<HTMLMetaElement>('meta[name="nova-api"]')?.content;
  return named || location.origin;
}

/** Returns the address of the page, to which issuers redirect after a sign-in. */
export function readPageUrl(): string {
  return location.origin + import.meta.env.BASE_URL;
}

/** Reads `config.json`, which the server serves beside the page. */
export async function readConfig(): Promise<IssuerConfig | undefined> {
  const answer = await fetch(`${import.meta.env.BASE_URL}config.json`, { cache: "no-cache" }).catch(() => undefined);
  return answer?.ok ? parseConfig(await answer.text()) : undefined;
}

/** Returns the stored API key, or the access token of an issuer. */
export function readKey(): string | undefined {
  return loadTokens()?.access ?? sessionStorage.getItem(storedKey) ?? undefined;
}

export function storeKey(key: string): void {
  saveTokens(undefined);
  sessionStorage.setItem(storedKey, key);
}

export function storeSession(tokens: Tokens): void {
  sessionStorage.removeItem(storedKey);
  saveTokens(tokens);
}

export function clearSession(): void {
  sessionStorage.removeItem(storedKey);
  saveTokens(undefined);
}

/**
 * Signs the user out of this tab. Returns the address that ends the issuer's own session; undefined if there is no such
 * address.
 */
export function signOut(): string | undefined {
  const tokens = loadTokens();
  clearSession();
  return tokens && buildSignOutUrl(tokens, readPageUrl());
}

/** Returns a sentence that tells the user why the API refuses the stored key or token. */
export function explainSessionEnd(): string {
  return loadTokens() ? texts.signIn.ended : texts.signIn.refused;
}

let renewal: Promise<void> | undefined;

/** Returns the credential for a request. First renews a token that expires soon, once for all concurrent requests. */
export async function refreshKey(): Promise<string | undefined> {
  const tokens = loadTokens();
  if (tokens && isRenewalDue(tokens, Date.now())) {
    renewal ??= renewStoredTokens(tokens).finally(() => {
      renewal = undefined;
    });
    await renewal;
  }
  return readKey();
}

/**
 * Renews and stores tokens. If the renewal fails, keeps the old token, because the API itself refuses an expired token.
 * A user who signed out during the renewal stays signed out.
 */
async function renewStoredTokens(tokens: Tokens): Promise<void> {
  const renewed = await renewTokens(tokens).catch(() => undefined);
  if (renewed && loadTokens()?.access === tokens.access) saveTokens(renewed);
}

/** Returns the code of a sign-in link, and removes the code from the address and the history. */
export function takeLinkCode(): string | undefined {
  const [, code] = /^#code=([\w-]{43})$/.exec(location.hash) ?? [];
  if (code !== undefined) history.replaceState(null, "", location.pathname + location.search);
  return code;
}

const storedLink = "nova-vote-link";

/** The mailed link with which the user has opened the page. */
export interface MailedLink {
  task: string;
  token: string;
}

/**
 * Returns the mailed link if the address is that of the link's task. Moves the link's token from the address and the
 * history into the storage of the browser tab, so that a reload finds the token.
 */
export function takeMailedLink(): MailedLink | undefined {
  const [, task] = /\/tasks\/(task_[0-9A-Z]{26})$/.exec(location.pathname) ?? [];
  const [, token] = /^#vote=([\w-]+)$/.exec(location.hash) ?? [];
  if (task === undefined) return undefined;
  if (token !== undefined) {
    sessionStorage.setItem(storedLink, JSON.stringify({ task, token }));
    history.replaceState(null, "", location.pathname);
  }
  const stored = JSON.parse(sessionStorage.getItem(storedLink) ?? "{}") as Partial<MailedLink>;
  return stored.task === task && stored.token !== undefined ? { task, token: stored.token } : undefined;
}

export function forgetMailedLink(): void {
  sessionStorage.removeItem(storedLink);
}

/** Exchanges the code of a sign-in link for a key. Throws an `Error` if the code was already used. */
export async function exchangeCode(code: string): Promise<string> {
  const answer = await fetch(`${import.meta.env.BASE_URL}session`, { method: "POST", body: code });
  const body = (await answer.json()) as { api_key?: string };
  if (!answer.ok || body.api_key === undefined) throw new Error(texts.signIn.used);
  return body.api_key;
}
