import { type IssuerConfig, parseConfig } from "./config.ts";

/** What lies beside the page. */
export async function readConfig(): Promise<IssuerConfig | undefined> {
  const answer = await fetch(`${import.meta.env.BASE_URL}config.json`, { cache: "no-cache" }).catch(() => undefined);
  return answer?.ok ? parseConfig(await answer.text()) : undefined;
}
