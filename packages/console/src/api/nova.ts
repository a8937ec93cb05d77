import { createClient, type NovaClient } from "@nova/client";
import { renderJson } from "@nova/workflow/json-text";
import { createContext, useContext } from "react";
import { parseAnswer } from "../json/raw.ts";
import { fetchNoted } from "./contact.ts";
import { clearSession, readApiUrl, refreshKey } from "./session.ts";

/** Creates an API client for one key. In requests and answers, contexts are unparsed JSON text (`Raw`). */
export function createKeyClient(apiKey: string, fetch?: (request: Request) => Promise<Response>): NovaClient {
  const more = fetch && { fetch };
  return createClient({ url: readApiUrl(), apiKey, parse: parseAnswer, stringify: renderJson, ...more });
}

/** Creates an API client that uses the stored key or token, and renews the token before it expires. */
export function createSessionClient(): NovaClient {
  return createKeyClient("", async (request) => {
    request.headers.set("authorization", `Bearer ${(await refreshKey()) ?? ""}`);
    return fetchNoted(request);
  });
}

/**
 * Creates an API client for the one task of a mailed link. If the user is signed in, each request also contains the
 * user's key, because the API refuses a link that NOVA mailed to another person. If the API refuses the key because the
 * session has ended, the client sends the request again without a key.
 */
export function createLinkClient(token: string): NovaClient {
  return createKeyClient("", async (request) => {
    request.headers.set("nova-vote-link", token);
    request.headers.delete("authorization");
    const key = await refreshKey();
    const signedIn = key === undefined ? undefined : new Request(request.clone());
    signedIn?.headers.set("authorization", `Bearer ${key}`);
    const answer = await fetch(signedIn ?? request);
    if (answer.status !== 401 || !signedIn) return answer;
    clearSession();
    return fetch(request);
  });
}

const LinkContext = createContext(false);
export const LinkProvider = LinkContext.Provider;

/** Returns whether the user has opened a mailed link, which shows one task and nothing else. */
export function useIsByLink(): boolean {
  return useContext(LinkContext);
}

export const NovaContext = createContext<NovaClient | null>(null);

export function useNova(): NovaClient {
  const nova = useContext(NovaContext);
  if (!nova) throw new Error("useNova is called outside of a page");
  return nova;
}

/** Maximum number of concurrent requests; more would slow the API for other users. */
const concurrency = 4;

/** Calls `work` for every item, for at most `concurrency` items at the same time. */
export async function workConcurrently<Item>(items: readonly Item[], work: (item: Item) => Promise<unknown>) {
  const remaining = items.values();
  const worker = async () => {
    for (const item of remaining) await work(item);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}
