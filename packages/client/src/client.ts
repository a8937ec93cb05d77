import { ApiProblem, type Body, type ClientOptions, type Connection, connect, unreachableError } from "./connection.ts";
import { executionsAt } from "./executions.ts";
import type { Schemas } from "./schemas.ts";
import { sessionsAt } from "./sessions.ts";

/**
 * Creates a client of a NOVA server's REST API: `createClient({ url: "https://nova.example.com", apiKey })`. The client
 * throws `ApiProblem` if the API refuses a request, and `ApiUnreachable` if the server does not answer.
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

    /** A typed client of every route, also of the routes for which there is no method here. */
    api,
    ask,

    list,

    /**
     * Uploads a file. The result is a reference that stands for the file anywhere in a context, as in `{ context: {
     * invoice: await nova.upload(file, { bytes: file.size }) } }`.
     */
    upload: (body: Blob | ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>, about: Uploading) =>
      upload(at, body, about),
    /** The public keys that check the signatures of chains, the oldest first. */
    publicKeys: () => ask(api.GET("/.well-known/nova-keys.json")),
    /** Adds a key that signs the ends of runs from now on. */
    rotateSigningKey: () => ask(api.POST("/signing-keys/rotate")),
    audit: () => list("/audit", {}),

    /** Lists the signed roots of the Merkle trees of closed runs, the newest first. */
    roots: () => list("/roots", {}),

    /** Makes a root over the runs that have closed since the last root, and returns the newest root. */
    makeRoot: () => ask(api.POST("/roots")),
    health: () => ask(api.GET("/health")),
  };
}

export type NovaClient = ReturnType<typeof createClient>;

const clientsAt = ({ api, ask, list }: Connection) => ({
  create: (body: Body<"/clients", "post">) => ask(api.POST("/clients", { body })),
  list: () => list("/clients", {}),
  get: (slug: string) => ask(api.GET("/clients/{slug}", { params: { path: { slug } } })),

  /**
   * Changes the name, pins, variables, quotas or failure notifications of a client. Each given member replaces the
   * stored member.
   */
  change: (slug: string, body: Body<"/clients/{slug}", "patch">) =>
    ask(api.PATCH("/clients/{slug}", { params: { path: { slug } }, body })),

  /**
   * Erases a client and its data, but not the digests that verify its runs. The erasure is complete when `get` answers
   * 404.
   */
  async delete(slug: string): Promise<void> {
    await ask(api.DELETE("/clients/{slug}", { params: { path: { slug } } }));
  },
});

const keysAt = ({ api, ask, list }: Connection) => ({
  /** Creates a key. Only this answer contains the key itself. */
  create: (body: Body<"/keys", "post">) => ask(api.POST("/keys", { body })),
  list: () => list("/keys", {}),

  async delete(id: string): Promise<void> {
    await ask(api.DELETE("/keys/{id}", { params: { path: { id } } }));
  },
});

/**
 * The owner of credentials: a client, or a workflow. The credentials of a workflow are for all of its runs, of any client.
 */
export type CredentialOwner = { client: string } | { workflow: string };

export interface NewCredential {
  kind: Schemas["Credential"]["kind"];
  values: Record<string, unknown>;
}

/** Requests about credentials. Answers contain only names, kinds and times, but no values. */
const credentialsAt = ({ api, ask, list }: Connection) => ({
  set: (owner: CredentialOwner, name: string, body: NewCredential) =>
    ask(
      "client" in owner
        ? api.PUT("/clients/{slug}/credentials/{name}", { params: { path: { slug: owner.client, name } }, body })
        : api.PUT("/workflows/{id}/credentials/{name}", { params: { path: { id: owner.workflow, name } }, body }),
    ),

  list: (owner: CredentialOwner) =>
    "client" in owner
      ? list("/clients/{slug}/credentials", { path: { slug: owner.client } })
      : list("/workflows/{id}/credentials", { path: { id: owner.workflow } }),

  async remove(owner: CredentialOwner, name: string): Promise<void> {
    await ask(
      "client" in owner
        ? api.DELETE("/clients/{slug}/credentials/{name}", { params: { path: { slug: owner.client, name } } })
        : api.DELETE("/workflows/{id}/credentials/{name}", { params: { path: { id: owner.workflow, name } } }),
    );
  },

  rotate: () => ask(api.POST("/credentials/rotate")),
});

export interface Answer {
  choice: string;
  data?: unknown;
  /** The name of the person who answers; absent: the name of the key. */
  by?: string;
}

const tasksAt = ({ api, ask, list }: Connection) => ({
  /** Lists tasks that wait for a person's answer, oldest first; with kind `event`, tasks that wait for an event. */
  list: (query: { kind?: "approval" | "event"; mine?: "true" | "false" } = {}) => list("/tasks", { query }),

  /** Also returns a task that was answered or has expired. */
  get: (id: string) => ask(api.GET("/tasks/{id}", { params: { path: { id } } })),

  answer: (id: string, answer: Answer) =>
    ask(api.POST("/tasks/{id}", { params: { path: { id } }, body: answer as never })),
  /** Takes back the caller's vote or delegation, until enough people agree. */
  withdraw: (id: string) => ask(api.POST("/tasks/{id}/withdraw", { params: { path: { id } } })),
  /** Lets another person vote instead of the caller. */
  delegate: (id: string, to: string) =>
    ask(api.POST("/tasks/{id}/delegate", { params: { path: { id } }, body: { to } })),

  /**
   * Answers the only task that an execution has created so far. If the execution has created several tasks, `task` or
   * `node` selects one.
   */
  answerIn: (id: string, answer: Answer & { task?: string; node?: string }) =>
    ask(api.POST("/executions/{id}/answer", { params: { path: { id } }, body: answer as never })),
});

export type Uploading = Body<"/uploads", "post">;

async function upload(
  { api, ask }: Connection,
  body: Blob | ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>,
  about: Uploading,
): Promise<{ $upload: string }> {
  const ticket: Schemas["Upload"] = await ask(api.POST("/uploads", { body: about }));
  const { id, url, method, headers } = ticket;
  const sent = await fetch(url, { method, headers, body, duplex: "half" } as RequestInit).catch((cause) => {
    throw unreachableError(url, cause);
  });
  if (!sent.ok) {
    const detail = `the bytes of upload ${id} were refused with status ${sent.status} - send exactly ${about.bytes}`;
    throw new ApiProblem(sent.status, { detail, title: "Upload refused" });
  }
  return { $upload: id };
}

/** A definition as written, or with the texts of the files that it names. */
export type Source = object | { definition: object; files: Record<string, string> };

const workflowsAt = ({ api, ask, list }: Connection) => ({
  /**
   * Stores a version and publishes it. Runs cannot use it while its status is `publishing`. Throws `ApiProblem` if the
   * API refuses it.
   */
  publish: (source: Source) => ask(api.POST("/workflows", { body: source as Record<string, never> })),

  validate: (source: Source) => ask(api.POST("/workflows/validate", { body: source as Record<string, never> })),

  /** Checks a stored version again with the current rules, and returns the findings. */
  findings: (id: string, query: { version?: number } = {}) =>
    ask(api.GET("/workflows/{id}/findings", { params: { path: { id }, query } })),

  list: () => list("/workflows", {}),

  /** Reads the given version of a workflow; without a version, the latest. */
  get: (id: string, query: { version?: number } = {}) =>
    ask(api.GET("/workflows/{id}", { params: { path: { id }, query } })),

  versions: (id: string) => list("/workflows/{id}/versions", { path: { id } }),

  generations: (id: string) => list("/workflows/{id}/generations", { path: { id } }),

  /** Allows or forbids running code that a model wrote. */
  review: (id: string, body: Schemas["CodeReview"]) =>
    ask(api.POST("/workflows/{id}/generations/review", { params: { path: { id } }, body })),

  asl: (id: string, query: { version?: number } = {}) =>
    ask(api.GET("/workflows/{id}/asl", { params: { path: { id }, query } })),

  activate: (id: string, version: number) =>
    ask(api.POST("/workflows/{id}/activate", { params: { path: { id } }, body: { version } })),

  async delete(id: string): Promise<void> {
    await ask(api.DELETE("/workflows/{id}", { params: { path: { id } } }));
  },
});
