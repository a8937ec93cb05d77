import type { ArchiveRecord, ServicePorts } from "@nova/service";
import { InvalidInput } from "../errors.ts";

type Found = ArchiveRecord & { url?: string };

/** Where an export comes from. */
export interface ExportSource {
  page(cursor?: string): Promise<{ records: Found[]; cursor?: string }>;
  open(object: { key: string; url?: string }): Promise<AsyncIterable<Uint8Array>>;
}

/** Table and bucket themselves. */
export function storedSource({ archive }: Pick<ServicePorts, "archive">, client?: string): ExportSource {
  return {
    page: (cursor) =>
      archive.page({ ...(client !== undefined && { client }), ...(cursor !== undefined && { cursor }) }),
    open: ({ key }) => archive.read(key),
  };
}

/** A client of the server that `NOVA_URL` names. */
export function serverSource(url: string, apiKey: string, client: string): ExportSource {
  return {
    async page(cursor) {
      const address = `${url.replace(/\/$/, "")}/clients/${encodeURIComponent(client)}/export`;
      const query = cursor === undefined ? "" : `?cursor=${encodeURIComponent(cursor)}`;
      const answer = await reached(address + query, { headers: { authorization: `Bearer ${apiKey}` } });
      const body = (await answer.json()) as { items: Raw[]; next_cursor: string | null; detail?: string };
      if (!answer.ok) throw new InvalidInput(body.detail ?? `the server answered ${answer.status} - try again`);
      const records = body.items.map(
        (one): Found => (one.kind === "item" ? { ...one, item: JSON.stringify(one.item) } : one),
      );
      return { records, ...(body.next_cursor !== null && { cursor: body.next_cursor }) };
    },
    async open({ key, url: address = "" }) {
      const answer = await reached(address);
      if (answer.ok && answer.body) return answer.body;
      throw new InvalidInput(`${key} could not be fetched (${answer.status}) - export again`);
    },
  };
}

/** Numbers of an item are texts in DynamoDB's JSON, so that parsing it loses nothing. */
type Raw = Extract<Found, { kind: "object" }> | { kind: "item"; entity: string; item: object };

/** Throws `InvalidInput` where nobody answers. */
async function reached(address: string, init: RequestInit = {}): Promise<Response> {
  return fetch(address, init).catch((cause: Error) => {
    const why = (cause.cause as NodeJS.ErrnoException | undefined)?.code ?? cause.message;
    throw new InvalidInput(`${new URL(address).origin} cannot be reached (${why}) - check the URL`, { cause });
  });
}
