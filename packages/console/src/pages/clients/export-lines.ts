import type { NovaClient } from "@nova/client";

/** All that is stored of a client, a line of JSON for each record; the last one is the seal over all of them. */
export async function* exportLines(nova: NovaClient, slug: string, signal: AbortSignal): AsyncGenerator<string[]> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = cursor === undefined ? {} : { cursor };
    const params = { path: { slug }, query };
    const page = await nova.ask(nova.api.GET("/clients/{slug}/export", { params, signal }));
    yield page.items.map((item) => JSON.stringify(item));
    if (page.seal !== undefined) yield [JSON.stringify({ kind: "seal", seal: page.seal })];
    cursor = page.next_cursor;
  }
}
