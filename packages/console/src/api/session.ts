import { texts } from "../texts.ts";
import { buildSignOutUrl } from "./issuer/sign-in.ts";
import { isRenewalDue, loadTokens, renewTokens, saveTokens, type Tokens } from "./issuer/tokens.ts";

/** Where the key is kept: it goes with the tab, and is in no address. */
const storedKey = "nova-key";

/** The server of the page, or the one that whoever deployed the page has written into it. */
export function readApiUrl(): string {
  const named = document.querySelector<HTMLMetaElement>('meta[name="nova-api"]')?.content;
  return named || location.origin;
}

/** Where an issuer sends a browser back to. */
export function readPageUrl(): string {
  return location.origin + import.meta.env.BASE_URL;
}

/** A key, or a token of an issuer. */
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

/** Forgets everything, and answers where the issuer's own session is ended; undefined: there is none, or it names no such place. */
export function signOut(): string | undefined {
  const tokens = loadTokens();
  clearSession();
  return tokens && buildSignOutUrl(tokens, readPageUrl());
}

/** Why the API takes what is kept no more. */
export function explainSessionEnd(): string {
  return loadTokens() ? texts.signIn.ended : texts.signIn.refused;
}

let renewal: Promise<void> | undefined;

/** What a request says who asks: a token that ends soon is renewed first, once for all requests. */
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

/** Where that fails, the token of before is used until the API refuses it. Whoever signed out meanwhile stays out. */
async function renewStoredTokens(tokens: Tokens): Promise<void> {
  const renewed = await renewTokens(tokens).catch(() => undefined);
  if (renewed && loadTokens()?.access === tokens.access) saveTokens(renewed);
}

/** The code of a link that signs in once; it is gone from the address and its history at once. */
export function takeLinkCode(): string | undefined {
  const [, code] = /^#code=([\w-]{43})$/.exec(location.hash) ?? [];
  if (code !== undefined) history.replaceState(null, "", location.pathname + location.search);
  return code;
}

/** The key that a code stands for. Throws where it was used. */
export async function exchangeCode(code: string): Promise<string> {
  const answer = await fetch(`${import.meta.env.BASE_URL}session`, { method: "POST", body: code });
  const body = (await answer.json()) as { api_key?: string };
  if (!answer.ok || body.api_key === undefined) throw new Error(texts.signIn.used);
  return body.api_key;
}
