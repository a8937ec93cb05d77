import type { NovaClient } from "@nova/client";
import { type ArchiveRecord, type SealedExport, type ServicePorts, sealedText } from "@nova/service";
import { defined } from "@nova/workflow/defined";
import { fetchSigned } from "../api/client.ts";
import { InvalidInput } from "../errors.ts";

export type Found = ArchiveRecord & { url?: string };

/** Reads the data to export. */
export interface ExportSource {
  page(cursor?: string): Promise<{ records: Found[]; cursor?: string }>;
  /** Signs the data of all pages; undefined without a signing key. */
  seal(sealed: SealedExport): Promise<string | undefined>;
  open(object: { key: string; url?: string }): Promise<AsyncIterable<Uint8Array>>;
}

type StoredPorts = Pick<ServicePorts, "archive"> & Partial<Pick<ServicePorts, "signer">>;

/** Exports directly from table and bucket. */
export function storedSource({ archive, signer }: StoredPorts, client?: string): ExportSource {
  return {
    seal: async (sealed) => signer?.sign(sealedText(sealed)),
    page: (cursor) => archive.page({ client, cursor }),
    open: ({ key }) => archive.read(key),
  };
}

/** Exports a client of the server in `NOVA_URL`. */
export function serverSource(nova: NovaClient, client: string): ExportSource {
  let seal: string | undefined;
  return {
    seal: async () => seal,
    async page(cursor) {
      const params = { path: { slug: client }, query: defined({ cursor }) };
      const page = await nova.ask(nova.api.GET("/clients/{slug}/export", { params }));
      seal = page.seal;
      // DynamoDB's JSON has numbers as texts, so parsing loses no digits.
      const found = (one: (typeof page.items)[0]): Found =>
        one.kind === "item" ? { ...one, item: JSON.stringify(one.item) } : one;
      return { records: page.items.map(found), ...defined({ cursor: page.next_cursor ?? undefined }) };
    },
    async open({ key, url = "" }) {
      const answer = await fetchSigned(url, key);
      if (answer.body) return answer.body;
      throw new InvalidInput(`${key} arrived without content - export again`);
    },
  };
}
