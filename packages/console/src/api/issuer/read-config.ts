import { type IssuerConfig, parseConfig } from "./config.ts";

/** Reads `config.json`, which is served beside the page. */
export async function readConfig(): Promise<IssuerConfig | undefined> {
  const answer = await fetch(`${import.meta.env.BASE_URL}config.json`, { cache: "no-cache" }).catch(() => undefined);
  return answer?.ok ? parseConfig(await answer.text()) : undefined;
}
