import type { Range } from "./page.ts";

/** Somebody for whom workflows run. */
export interface Client {
  format: 1;
  slug: string;
  name: string;
  /** Versions of workflows that its runs use, whatever is active. */
  pins: Record<string, number>;
  /** ISO 8601. */
  createdAt: string;
}

export interface ClientStore {
  /** False when the slug is taken. */
  create(client: Client): Promise<boolean>;
  get(slug: string): Promise<Client | undefined>;
  /** False when there is no such client. */
  update(slug: string, changes: Partial<Pick<Client, "name" | "pins">>): Promise<boolean>;
  /** By slug. */
  list(query: Range): Promise<Client[]>;
}
