import { texts } from "../texts.ts";

/** Where the key is kept: it goes with the tab, and is in no address. */
const storedKey = "nova-key";

/** The server of the page, or the one that whoever deployed the page has written into it. */
export function apiUrl(): string {
  const named = document.querySelector<HTMLMetaElement>('meta[name="nova-api"]')?.content;
  return named || location.origin;
}

export function keptKey(): string | undefined {
  return sessionStorage.getItem(storedKey) ?? undefined;
}

export function keepKey(key: string): void {
  sessionStorage.setItem(storedKey, key);
}

export function forgetKey(): void {
  sessionStorage.removeItem(storedKey);
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
