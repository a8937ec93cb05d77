import { type ClientOptions, connect } from "./connection.ts";
import { clientsAt, keysAt } from "./resources/administration.ts";
import { credentialsAt } from "./resources/credentials.ts";
import { executionsAt } from "./resources/executions.ts";
import { sessionsAt } from "./resources/sessions.ts";
import { tasksAt } from "./resources/tasks.ts";
import { type Uploading, upload } from "./resources/uploads.ts";
import { workflowsAt } from "./resources/workflows.ts";

/**
 * A NOVA behind its REST API: `createClient({ url: "https://nova.example.com", apiKey })`. Whatever is refused throws
 * `ApiProblem`; where nobody answers, `ApiUnreachable`.
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

    /** Every route, typed, for what has no method here. */
    api,
    /** What a route answered. Throws `ApiProblem`. */
    ask,

    /** Every item of a list that has no method here. */
    list,

    /**
     * Sends bytes that a run gets: what it answers stands for them anywhere in its context, as in
     * `{ context: { invoice: await nova.upload(file, { bytes: file.size }) } }`.
     */
    upload: (body: Blob | ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>, about: Uploading) =>
      upload(at, body, about),
    /** Who did what, newest first. */
    audit: () => list("/audit", {}),
    health: () => ask(api.GET("/health")),
  };
}

export type NovaClient = ReturnType<typeof createClient>;
