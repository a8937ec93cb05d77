import { createClient, type NovaClient } from "@nova/client";
import { renderJson } from "@nova/workflow/json-text";
import { createContext, useContext } from "react";
import { parseAnswer } from "../json/raw.ts";
import { readApiUrl, refreshKey } from "./session.ts";

/** Creates a client for one key. Contexts are `Raw` in requests and answers. */
export function createKeyClient(apiKey: string): NovaClient {
  return createClient({ url: readApiUrl(), apiKey, parse: parseAnswer, stringify: renderJson });
}

/** Creates a client that uses the stored key or token, and renews the token before it expires. */
export function createSessionClient(): NovaClient {
  return createClient({
    url: readApiUrl(),
    apiKey: "",
    parse: parseAnswer,
    stringify: renderJson,
    async fetch(request) {
      request.headers.set("authorization", `Bearer ${(await refreshKey()) ?? ""}`);
      return fetch(request);
    },
  });
}

export const NovaContext = createContext<NovaClient | null>(null);

export function useNova(): NovaClient {
  const nova = useContext(NovaContext);
  if (!nova) throw new Error("useNova is called outside of a page");
  return nova;
}

/** Maximum number of concurrent requests; more would slow the API for other users. */
const concurrency = 4;

/** Calls `work` for every item, for a few items at a time. */
export async function workConcurrently<Item>(items: readonly Item[], work: (item: Item) => Promise<unknown>) {
  const remaining = items.values();
  const worker = async () => {
    for (const item of remaining) await work(item);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}
