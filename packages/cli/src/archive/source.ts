import type { NovaClient } from "@nova/client";
import { type ArchiveRecord, type SealedExport, type ServicePorts, sealedText } from "@nova/service";
import { defined } from "@nova/workflow/defined";
import { fetchSigned } from "../api/client.ts";
import { InvalidInput } from "../errors.ts";

export type Found = ArchiveRecord & { url?: string };

/** Where an export comes from. */
export interface ExportSource {
  page(cursor?: string): Promise<{ records: Found[]; cursor?: string }>;
  /** Signs everything that all pages held; undefined where no signing key is at hand. */
  seal(sealed: SealedExport): Promise<string | undefined>;
  open(object: { key: string; url?: string }): Promise<AsyncIterable<Uint8Array>>;
}

type StoredPorts = Pick<ServicePorts, "archive"> & Partial<Pick<ServicePorts, "signer">>;

/** Table and bucket themselves. */
export function storedSource({ archive, signer }: StoredPorts, client?: string): ExportSource {
  return {
    seal: async (sealed) => signer?.sign(sealedText(sealed)),
    page: (cursor) => archive.page({ client, cursor }),
    open: ({ key }) => archive.read(key),
  };
}

/** A client of the server that `NOVA_URL` names. */
export function serverSource(nova: NovaClient, client: string): ExportSource {
  let seal: string | undefined;
  return {
    seal: async () => seal,
    async page(cursor) {
      const params = { path: { slug: client }, query: defined({ cursor }) };
      const page = await nova.ask(nova.api.GET("/clients/{slug}/export", { params }));
      seal = page.seal;
      // Numbers of an item are texts in DynamoDB's JSON, so that parsing it lost nothing.
      const found = (one: (typeof page.items)[0]): Found =>
        one.kind === "item" ? { ...one, item: JSON.stringify(one.item) } : one;
      return { records: page.items.map(found), ...defined({ cursor: page.next_cursor ?? undefined }) };
    },
    async open({ key, url = "" }) {
      const answer = await fetchSigned(url, key);
      if (answer.body) return answer.body;
      throw new InvalidInput(`${key} came without bytes - export again`);
    },
  };
}
