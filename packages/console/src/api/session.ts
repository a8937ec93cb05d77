import { texts } from "../texts.ts";
import { signOutAddress } from "./issuer/sign-in.ts";
import { isDue, keepTokens, keptTokens, renew, type Tokens } from "./issuer/tokens.ts";

/** Where the key is kept: it goes with the tab, and is in no address. */
const storedKey = "nova-key";

/** The server of the page, or the one that whoever deployed the page has written into it. */
export function apiUrl(): string {
  const named = document.querySelector<HTMLMetaElement>('meta[name="nova-api"]')?.content;
  return named || location.origin;
}

/** Where an issuer sends a browser back to. */
export function pageAddress(): string {
  return location.origin + import.meta.env.BASE_URL;
}

/** A key, or a token of an issuer. */
export function keptKey(): string | undefined {
  return keptTokens()?.access ?? sessionStorage.getItem(storedKey) ?? undefined;
}

export function keepKey(key: string): void {
  keepTokens(undefined);
  sessionStorage.setItem(storedKey, key);
}

export function keepSession(tokens: Tokens): void {
  sessionStorage.removeItem(storedKey);
  keepTokens(tokens);
}

export function forgetKey(): void {
  sessionStorage.removeItem(storedKey);
  keepTokens(undefined);
}

/** Forgets everything, and answers where the issuer's own session is ended; undefined: there is none, or it names no such place. */
export function signOut(): string | undefined {
  const tokens = keptTokens();
  forgetKey();
  return tokens && signOutAddress(tokens, pageAddress());
}

/** Why the API takes what is kept no more. */
export function endOfSession(): string {
  return keptTokens() ? texts.signIn.ended : texts.signIn.refused;
}

let renewal: Promise<void> | undefined;

/** What a request says who asks: a token that ends soon is renewed first, once for all requests. */
export async function freshKey(): Promise<string | undefined> {
  const tokens = keptTokens();
  if (tokens && isDue(tokens, Date.now())) {
    renewal ??= renewKept(tokens).finally(() => {
      renewal = undefined;
    });
    await renewal;
  }
  return keptKey();
}

/** Where that fails, the token of before is used until the API refuses it. Whoever signed out meanwhile stays out. */
async function renewKept(tokens: Tokens): Promise<void> {
  const renewed = await renew(tokens).catch(() => undefined);
  if (renewed && keptTokens()?.access === tokens.access) keepTokens(renewed);
}

/** The code of a link that signs in once; it is gone from the address and its history at once. */
export function takeCode(): string | undefined {
  const [, code] = /^#code=([\w-]{43})$/.exec(location.hash) ?? [];
  if (code !== undefined) history.replaceState(null, "", location.pathname + location.search);
  return code;
}

/** The key that a code stands for. Throws where it was used. */
export async function exchange(code: string): Promise<string> {
  const answer = await fetch(`${import.meta.env.BASE_URL}session`, { method: "POST", body: code });
  const body = (await answer.json()) as { api_key?: string };
  if (!answer.ok || body.api_key === undefined) throw new Error(texts.signIn.used);
  return body.api_key;
}
