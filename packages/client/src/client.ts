import { type Body, type ClientOptions, type Connection, connect } from "./connection.ts";
import { credentialsAt } from "./resources/credentials.ts";
import { executionsAt } from "./resources/executions.ts";
import { sessionsAt } from "./resources/sessions.ts";
import { tasksAt } from "./resources/tasks.ts";
import { type Uploading, upload } from "./resources/uploads.ts";
import { workflowsAt } from "./resources/workflows.ts";

/**
 * A client of a NOVA server's REST API: `createClient({ url: "https://nova.example.com", apiKey })`. It throws
 * `ApiProblem` if the API refuses a request, and `ApiUnreachable` if the server does not answer.
 */
export function createClient(options: ClientOptions) {
  const at = connect(options);
  const { api, ask, list } = at;
  return {
    workflows: workflowsAt(at),
    executions: executionsAt(at),
    tasks: tasksAt(at),
    clients: clientsAt(at),
    keys: keysAt(at),
    sessions: sessionsAt(at),
    credentials: credentialsAt(at),

    /** Every route with its types, also those without a method here. */
    api,
    /** Returns the answer of a route. Throws `ApiProblem`. */
    ask,

    /** Iterates over all items of a list route. */
    list,

    /**
     * Uploads a file. The result stands for the file anywhere in a context, as in `{ context: { invoice: await
     * nova.upload(file, { bytes: file.size }) } }`.
     */
    upload: (body: Blob | ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>, about: Uploading) =>
      upload(at, body, about),
    /** Audit records, newest first. */
    audit: () => list("/audit", {}),
    health: () => ask(api.GET("/health")),
  };
}

export type NovaClient = ReturnType<typeof createClient>;

export const clientsAt = ({ api, ask, list }: Connection) => ({
  create: (body: Body<"/clients", "post">) => ask(api.POST("/clients", { body })),
  list: () => list("/clients", {}),
  get: (slug: string) => ask(api.GET("/clients/{slug}", { params: { path: { slug } } })),

  /** Changes the name, pins, variables, quotas or failure notifications; each given member replaces the stored one. */
  change: (slug: string, body: Body<"/clients/{slug}", "patch">) =>
    ask(api.PATCH("/clients/{slug}", { params: { path: { slug } }, body })),

  /**
   * Deletes a client and erases its data; digests stay, so its runs still verify. The deletion is complete when `get`
   * answers 404.
   */
  async delete(slug: string): Promise<void> {
    await ask(api.DELETE("/clients/{slug}", { params: { path: { slug } } }));
  },
});

export const keysAt = ({ api, ask, list }: Connection) => ({
  /** The answer is the only one that contains the key itself. */
  create: (body: Body<"/keys", "post">) => ask(api.POST("/keys", { body })),
  list: () => list("/keys", {}),

  async delete(id: string): Promise<void> {
    await ask(api.DELETE("/keys/{id}", { params: { path: { id } } }));
  },
});
