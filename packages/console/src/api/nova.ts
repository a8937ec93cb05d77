import { createClient, type NovaClient } from "@nova/client";
import { createContext, useContext } from "react";
import { parseAnswer, renderBody } from "../json/answer.ts";
import { apiUrl } from "./session.ts";

/** The typed client, whose contexts are `Raw` both ways. */
export function novaFor(apiKey: string): NovaClient {
  return createClient({ url: apiUrl(), apiKey, parse: parseAnswer, stringify: renderBody });
}

export const NovaContext = createContext<NovaClient | null>(null);

export function useNova(): NovaClient {
  const nova = useContext(NovaContext);
  if (!nova) throw new Error("useNova is called outside of a page");
  return nova;
}
