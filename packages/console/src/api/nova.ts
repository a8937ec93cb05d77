import { createClient, type NovaClient } from "@nova/client";
import { renderJson } from "@nova/workflow/json-text";
import { createContext, useContext } from "react";
import { parseAnswer } from "../json/answer.ts";
import { readApiUrl, refreshKey } from "./session.ts";

/** The typed client, whose contexts are `Raw` both ways. */
export function createKeyClient(apiKey: string): NovaClient {
  return createClient({ url: readApiUrl(), apiKey, parse: parseAnswer, stringify: renderJson });
}

/** The same for who is signed in: tokens are renewed while the tab lives. */
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
