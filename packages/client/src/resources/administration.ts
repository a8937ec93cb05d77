import type { Connection } from "../connection.ts";
import { itemsOf, queryAt } from "../pages.ts";
import type { paths } from "../schema.d.ts";
import type { AuditRecord, Client, Key, Schemas } from "../schemas.ts";

type Body<Path extends keyof paths, Method extends keyof paths[Path]> = paths[Path][Method] extends {
  requestBody?: { content: { "application/json": infer Value } };
}
  ? Value
  : never;

export class Clients {
  readonly #at: Connection;

  constructor(at: Connection) {
    this.#at = at;
  }

  create(body: Body<"/clients", "post">): Promise<Client> {
    return this.#at.ask(this.#at.api.POST("/clients", { body }));
  }

  list(): AsyncGenerator<Client> {
    return itemsOf((cursor) => this.#at.ask(this.#at.api.GET("/clients", { params: { query: queryAt({}, cursor) } })));
  }

  get(slug: string): Promise<Client> {
    return this.#at.ask(this.#at.api.GET("/clients/{slug}", { params: { path: { slug } } }));
  }

  /** Name, pins, variables, quotas, who hears of failures: each is replaced as a whole. */
  change(slug: string, body: Body<"/clients/{slug}", "patch">): Promise<Client> {
    return this.#at.ask(this.#at.api.PATCH("/clients/{slug}", { params: { path: { slug } }, body }));
  }

  /** Has what was said for it erased; digests stay, and its runs verify. It is done once `get` finds no such client. */
  async delete(slug: string): Promise<void> {
    await this.#at.ask(this.#at.api.DELETE("/clients/{slug}", { params: { path: { slug } } }));
  }
}

export class Keys {
  readonly #at: Connection;

  constructor(at: Connection) {
    this.#at = at;
  }

  /** The only time that the key itself is shown. */
  create(body: Body<"/keys", "post">): Promise<Schemas["CreatedKey"]> {
    return this.#at.ask(this.#at.api.POST("/keys", { body }));
  }

  list(): AsyncGenerator<Key> {
    return itemsOf((cursor) => this.#at.ask(this.#at.api.GET("/keys", { params: { query: queryAt({}, cursor) } })));
  }

  async delete(id: string): Promise<void> {
    await this.#at.ask(this.#at.api.DELETE("/keys/{id}", { params: { path: { id } } }));
  }
}

/** Who did what, newest first. */
export function auditOf(at: Connection): AsyncGenerator<AuditRecord> {
  return itemsOf((cursor) => at.ask(at.api.GET("/audit", { params: { query: queryAt({}, cursor) } })));
}
