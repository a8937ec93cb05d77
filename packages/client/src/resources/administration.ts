import type { Body, Connection } from "../connection.ts";

export const clientsAt = ({ api, ask, list }: Connection) => ({
  create: (body: Body<"/clients", "post">) => ask(api.POST("/clients", { body })),
  list: () => list("/clients", {}),
  get: (slug: string) => ask(api.GET("/clients/{slug}", { params: { path: { slug } } })),

  /** Name, pins, variables, quotas, who hears of failures: each is replaced as a whole. */
  change: (slug: string, body: Body<"/clients/{slug}", "patch">) =>
    ask(api.PATCH("/clients/{slug}", { params: { path: { slug } }, body })),

  /** Has what was said for it erased; digests stay, and its runs verify. It is done once `get` finds no such client. */
  async delete(slug: string): Promise<void> {
    await ask(api.DELETE("/clients/{slug}", { params: { path: { slug } } }));
  },
});

export const keysAt = ({ api, ask, list }: Connection) => ({
  /** The only time that the key itself is shown. */
  create: (body: Body<"/keys", "post">) => ask(api.POST("/keys", { body })),
  list: () => list("/keys", {}),

  async delete(id: string): Promise<void> {
    await ask(api.DELETE("/keys/{id}", { params: { path: { id } } }));
  },
});
