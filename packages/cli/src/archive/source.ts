import { type ArchiveRecord, type Sealed, type ServicePorts, sealExport } from "@nova/service";
import { capped, maxAnswerBytes } from "../api/client.ts";
import { InvalidInput } from "../errors.ts";

export type Found = ArchiveRecord & { url?: string };

/** Where an export comes from. */
export interface ExportSource {
  page(cursor?: string): Promise<{ records: Found[]; cursor?: string }>;
  /** Signs everything that all pages held; undefined where no signing key is at hand. */
  seal(sealed: Sealed): Promise<string | undefined>;
  open(object: { key: string; url?: string }): Promise<AsyncIterable<Uint8Array>>;
}

type StoredPorts = Pick<ServicePorts, "archive"> & Partial<Pick<ServicePorts, "signer">>;

/** Table and bucket themselves. */
export function storedSource({ archive, signer }: StoredPorts, client?: string): ExportSource {
  return {
    seal: async (sealed) => signer && sealExport(signer, sealed),
    page: (cursor) =>
      archive.page({ ...(client !== undefined && { client }), ...(cursor !== undefined && { cursor }) }),
    open: ({ key }) => archive.read(key),
  };
}

/** A client of the server that `NOVA_URL` names. */
export function serverSource(url: string, apiKey: string, client: string): ExportSource {
  let seal: string | undefined;
  return {
    seal: async () => seal,
    async page(cursor) {
      const address = `${url.replace(/\/$/, "")}/clients/${encodeURIComponent(client)}/export`;
      const query = cursor === undefined ? "" : `?cursor=${encodeURIComponent(cursor)}`;
      const answer = await reached(address + query, { headers: { authorization: `Bearer ${apiKey}` } });
      const body = (await capped(answer, maxAnswerBytes).json()) as {
        items: Raw[];
        next_cursor: string | null;
        seal?: string;
        detail?: string;
      };
      if (!answer.ok) throw new InvalidInput(body.detail ?? `the server answered ${answer.status} - try again`);
      seal = body.seal;
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
