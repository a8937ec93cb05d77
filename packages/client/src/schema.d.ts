// Made by `npm run client` from the OpenAPI document: the types of every request and answer.

export interface paths {
    "/analytics/ai-cost": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Tokens and dollars by day and workflow, and what written code has saved
         * @description Needs the role viewer, or one that may more.
         */
        get: operations["getAnalyticsAiCost"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/analytics/errors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Failures by class and node, the most frequent first
         * @description Needs the role viewer, or one that may more.
         */
        get: operations["getAnalyticsErrors"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/analytics/nodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Runs, success rate, mean and 95th percentile of their time, by node
         * @description Needs the role viewer, or one that may more.
         */
        get: operations["getAnalyticsNodes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/analytics/workflows": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Runs, success rate, mean and 95th percentile of their time, by workflow
         * @description Needs the role viewer, or one that may more.
         */
        get: operations["getAnalyticsWorkflows"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Who did what, newest first; of one client, where the query or the key names it
         * @description Needs the role admin, or one that may more.
         */
        get: operations["getAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/clients": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Clients by slug; with a key of one client, that one
         * @description Needs the role viewer, or one that may more.
         */
        get: operations["getClients"];
        put?: never;
        /**
         * Make a client; needs a key for all clients
         * @description Needs the role admin, or one that may more.
         */
        post: operations["postClients"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/clients/{slug}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A client
         * @description Needs the role viewer, or one that may more.
         */
        get: operations["getClientsSlug"];
        put?: never;
        post?: never;
        /**
         * Delete a client: open runs are cancelled, what runs knew is erased; digests stay, and verify
         * @description Needs the role admin, or one that may more.
         */
        delete: operations["deleteClientsSlug"];
        options?: never;
        head?: never;
        /**
         * Change a client's name, pinned versions, variables, quotas, or who hears of its failed runs
         * @description Needs the role editor, or one that may more.
         */
        patch: operations["patchClientsSlug"];
        trace?: never;
    };
    "/clients/{slug}/credentials": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Credentials of a client by name, without what is in them
         * @description Needs the role viewer, or one that may more.
         */
        get: operations["getClientsSlugCredentials"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/clients/{slug}/credentials/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A credential of a client, without what is in it
         * @description Needs the role viewer, or one that may more.
         */
        get: operations["getClientsSlugCredentialsName"];
        /**
         * Store a credential of a client, in the place of the one before
         * @description Needs the role admin, or one that may more.
         */
        put: operations["putClientsSlugCredentialsName"];
        post?: never;
        /**
         * Remove a credential of a client
         * @description Needs the role admin, or one that may more.
         */
        delete: operations["deleteClientsSlugCredentialsName"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/clients/{slug}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * All that is stored of a client, page by page, as `nova import` takes it
         * @description Needs the role admin, or one that may more.
         */
        get: operations["getClientsSlugExport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/credentials/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Seal every credential with a new key; one that was interrupted goes on; needs a key for all clients
         * @description Needs the role admin, or one that may more.
         */
        post: operations["postCredentialsRotate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What came in for triggers, newest first: mails, requests, times, events; started, or refused and why
         * @description Needs the role viewer, or one that may more.
         */
        get: operations["getDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Hand an event to the runs that wait for one like it, or put it on the bus; needs a key for all clients
         * @description Needs the role runner, or one that may more.
         */
        post: operations["postEvents"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/executions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Executions, newest first
         * @description Needs the role viewer, or one that may more.
         */
        get: operations["getExecutions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/executions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * An execution: how it stands, what it knows, the way that it took
         * @description Needs the role viewer, or one that may more.
         */
        get: operations["getExecutionsId"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/executions/{id}/blobs/{sha256}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * An address of the bytes that a reference in a context stands for
         * @description Needs the role viewer, or one that may more.
         */
        get: operations["getExecutionsIdBlobsSha"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/executions/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop an execution; of one that is over it says how it ended
         * @description Needs the role runner, or one that may more.
         */
        post: operations["postExecutionsIdCancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/executions/{id}/chain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The chain of work, branches inside of the links that they begin behind; `full` adds code, contexts and logs
         * @description Needs the role viewer, or one that may more.
         */
        get: operations["getExecutionsIdChain"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/executions/{id}/chain/{seq}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One link; `full` adds code, contexts and logs
         * @description Needs the role viewer, or one that may more.
         */
        get: operations["getExecutionsIdChainSeq"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/executions/{id}/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check that the chain of work is whole and unchanged
         * @description Needs the role viewer, or one that may more.
         */
        get: operations["getExecutionsIdVerify"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/formats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How many records of each kind and format are stored, part by part, and whether this release reads them
         * @description Needs the role admin, or one that may more.
         */
        get: operations["getFormats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** State and latency of everything that runs need; looked at every five seconds at most */
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/hooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Start a run, as a webhook trigger says; whoever sends signs with the trigger's key */
        post: operations["postHooksId"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Keys, oldest first, without their secrets
         * @description Needs the role admin, or one that may more.
         */
        get: operations["getKeys"];
        put?: never;
        /**
         * Make an API key, which is shown this once
         * @description Needs the role admin, or one that may more.
         */
        post: operations["postKeys"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a key: it opens nothing any more
         * @description Needs the role admin, or one that may more.
         */
        delete: operations["deleteKeysId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This document */
        get: operations["getOpenapiJson"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What waits for somebody's answer, oldest first
         * @description Needs the role viewer, or one that may more.
         */
        get: operations["getTasks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Answer an approval
         * @description Needs the role runner, or one that may more.
         */
        post: operations["postTasksId"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/uploads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * An address that takes bytes for a run; they are kept for a day
         * @description Needs the role runner, or one that may more.
         */
        post: operations["postUploads"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflows": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Workflows by id
         * @description Needs the role viewer, or one that may more.
         */
        get: operations["getWorkflows"];
        put?: never;
        /**
         * Validate, store a version, publish it; of an existing workflow it is the next version
         * @description Needs the role editor, or one that may more.
         */
        post: operations["postWorkflows"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflows/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A workflow with its definition, but what in it is other clients' own; the latest version or the one asked for
         * @description Needs the role viewer, or one that may more.
         */
        get: operations["getWorkflowsId"];
        /**
         * As POST /workflows, for the workflow of this id
         * @description Needs the role editor, or one that may more.
         */
        put: operations["putWorkflowsId"];
        post?: never;
        /**
         * Delete a workflow; its executions stay readable
         * @description Needs the role editor, or one that may more.
         */
        delete: operations["deleteWorkflowsId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflows/{id}/activate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a version what new runs use, such as an earlier one
         * @description Needs the role editor, or one that may more.
         */
        post: operations["postWorkflowsIdActivate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflows/{id}/asl": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The state machine that a version compiles to
         * @description Needs the role viewer, or one that may more.
         */
        get: operations["getWorkflowsIdAsl"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflows/{id}/credentials": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Credentials of a workflow, which its runs get for every client by name, without what is in them
         * @description Needs the role viewer, or one that may more.
         */
        get: operations["getWorkflowsIdCredentials"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflows/{id}/credentials/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A credential of a workflow, which its runs get for every client, without what is in it
         * @description Needs the role viewer, or one that may more.
         */
        get: operations["getWorkflowsIdCredentialsName"];
        /**
         * Store a credential of a workflow, which its runs get for every client, in the place of the one before
         * @description Needs the role admin, or one that may more.
         */
        put: operations["putWorkflowsIdCredentialsName"];
        post?: never;
        /**
         * Remove a credential of a workflow, which its runs get for every client
         * @description Needs the role admin, or one that may more.
         */
        delete: operations["deleteWorkflowsIdCredentialsName"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflows/{id}/execute": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start a run; with `wait` answer its result if it ends in time
         * @description Needs the role runner, or one that may more.
         */
        post: operations["postWorkflowsIdExecute"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflows/{id}/generations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Code that models wrote for a workflow: all of it, or that for the key's client and for everybody
         * @description Needs the role viewer, or one that may more.
         */
        get: operations["getWorkflowsIdGenerations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflows/{id}/quotas": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How many runs of a workflow there may be at once
         * @description Needs the role viewer, or one that may more.
         */
        get: operations["getWorkflowsIdQuotas"];
        /**
         * Replace the quotas of a workflow, of all its versions; needs a key for all clients
         * @description Needs the role editor, or one that may more.
         */
        put: operations["putWorkflowsIdQuotas"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflows/{id}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Versions of a workflow, newest first
         * @description Needs the role viewer, or one that may more.
         */
        get: operations["getWorkflowsIdVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflows/validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Findings about a definition, without a side effect
         * @description Needs the role viewer, or one that may more.
         */
        post: operations["postWorkflowsValidate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        ActivatedWorkflow: {
            active_version: number;
            id: string;
        };
        AnsweredTask: {
            /** Format: date-time */
            at: string;
            choice: string;
            execution_id: string;
            node: string;
            /** @description false: kept, and handed to Step Functions by the next sweep */
            sent: boolean;
            task_id: string;
        };
        AuditRecord: {
            /** @enum {string} */
            action: "workflow.published" | "workflow.activated" | "workflow.deleted" | "workflow.limited" | "execution.cancelled" | "task.answered" | "client.created" | "client.changed" | "client.deleted" | "client.erased" | "client.exported" | "credential.set" | "credential.removed" | "credentials.rotated" | "key.created" | "key.deleted";
            /** Format: date-time */
            at: string;
            /** @description id of the key; null: whoever set NOVA up */
            by: string | null;
            client_slug: string | null;
            detail: {
                [key: string]: string | number;
            };
            id: string;
            subject: string;
        };
        BlobLink: {
            /** Format: date-time */
            expires_at: string;
            /**
             * Format: uri
             * @description answers the bytes to whoever has it
             */
            url: string;
        };
        ChainEntry: {
            node_id: string;
            node_type: string;
            scope: string;
            seq: number;
            status: string;
        } & {
            [key: string]: unknown;
        };
        Client: {
            /** Format: date-time */
            created_at: string;
            name: string;
            on_failure: {
                mail?: string[];
                webhook?: {
                    secret?: string;
                    url: string;
                };
            };
            pins: {
                [key: string]: number;
            };
            quotas: components["schemas"]["ClientQuotas"];
            slug: string;
            /** @description numbers keep the digits that they were written with */
            variables: {
                [key: string]: unknown;
            };
        };
        /** @description null or absent: no limit */
        ClientQuotas: {
            /** @description runs at once, of all workflows together; others are `queued` */
            max_concurrent?: number | null;
            /** @description US dollars that models may cost in a calendar month (UTC) */
            max_cost_usd?: number | null;
            /** @description days after its end for which the contents of a run are kept */
            retention_days?: number | null;
        };
        CostFigures: {
            /** @description runs of code that was written before */
            cache_hits: number;
            /** @description US dollars */
            cost_usd: number;
            /**
             * Format: date
             * @description UTC, the day on which the runs ended
             */
            day: string;
            /** @description what writing that code again would have cost */
            saved_usd: number;
            tokens_cached: number;
            tokens_input: number;
            tokens_output: number;
            workflow: string;
        };
        CreatedKey: {
            client_slug: string | null;
            /** Format: date-time */
            created_at: string;
            /** @description id of a key, or of a subject of the issuer */
            created_by: string | null;
            id: string;
            /** @description shown this once: only a digest of it is kept */
            key: string;
            name: string;
            /** @enum {string} */
            role: "viewer" | "runner" | "editor" | "admin";
        };
        Credential: {
            /** Format: date-time */
            changed_at: string;
            /** @enum {string} */
            kind: "email" | "database" | "http" | "oauth2" | "custom";
            name: string;
        };
        Delivery: {
            about: string;
            /** Format: date-time */
            at: string;
            client_slug: string | null;
            /** @description what repeated deliveries of the same have in common */
            dedupe: string;
            execution_id: string | null;
            from: string;
            id: string;
            /** @description why there is no run */
            reason: string | null;
            /** @enum {string} */
            status: "accepted" | "started" | "refused" | "failed";
            trigger: string | null;
            /** @enum {string} */
            type: "mail" | "imap" | "webhook" | "schedule" | "event";
            /** @description null: nobody could say, as of a mail to an unknown address */
            workflow: string | null;
        };
        ErrorFigures: {
            class: string;
            count: number;
            node: string;
            workflow: string;
        };
        Execution: {
            client: string;
            duration_ms: number | null;
            ended_at: string | null;
            error: {
                class: string;
                message: string;
                node: string;
            } | null;
            execution_id: string;
            /** @description runs of code, once it is over */
            nodes: number | null;
            /** @description the node that runs it, in another execution */
            parent: {
                execution_id: string;
                scope: string;
                seq: number;
            } | null;
            /** @description on models, once it is over */
            spent: {
                cost_usd: number;
                tokens_cached: number;
                tokens_input: number;
                tokens_output: number;
            } | null;
            /** Format: date-time */
            started_at: string;
            /** @enum {string} */
            status: "queued" | "running" | "waiting" | "completed" | "failed" | "cancelled" | "interrupted";
            version: number;
            workflow: string;
        };
        /** @description an item of the table in DynamoDB's JSON, or where an object is for an hour */
        ExportRecord: {
            entity: string;
            item: {
                [key: string]: unknown;
            };
            /** @constant */
            kind: "item";
        } | {
            bytes: number;
            key: string;
            /** @constant */
            kind: "object";
            /** Format: uri */
            url: string;
        };
        Finding: {
            /** @example NOVA404 */
            code: string;
            column?: number;
            file?: string;
            line?: number;
            message: string;
            /**
             * @description JSON path into the definition
             * @example $.nodes[2].timeout
             */
            path: string;
            /** @enum {string} */
            severity: "error" | "warning";
        };
        Generation: {
            analysis: string | null;
            analysis_hash: string | null;
            approved: {
                at: string;
                by: string;
            } | null;
            /** @description null: it runs for every client */
            client_slug: string | null;
            code: string;
            code_hash: string;
            cost: {
                tokens_cached: number;
                tokens_input: number;
                tokens_output: number;
                usd: number;
            };
            /** Format: date-time */
            created_at: string;
            /** @description everything that the code depends on */
            ingredients: {
                [key: string]: unknown;
            };
            key: string;
            model: string;
            node: string;
            /** @enum {string} */
            origin: "generated" | "edited";
            proven_by: string | null;
            /** @enum {string} */
            status: "candidate" | "pinned" | "replaced";
        };
        Health: {
            checks: {
                dynamodb: components["schemas"]["HealthCheck"];
                e2b: components["schemas"]["HealthCheck"];
                model: components["schemas"]["HealthCheck"];
                s3: components["schemas"]["HealthCheck"];
                states: components["schemas"]["HealthCheck"];
            };
            /** @enum {string} */
            status: "ok" | "degraded" | "down";
        };
        HealthCheck: {
            latency_ms: number;
            /** @description where a key is missing or refused: which one */
            reason?: string;
            /** @enum {string} */
            state: "ok" | "down";
        };
        Key: {
            client_slug: string | null;
            /** Format: date-time */
            created_at: string;
            /** @description id of a key, or of a subject of the issuer */
            created_by: string | null;
            id: string;
            name: string;
            /** @enum {string} */
            role: "viewer" | "runner" | "editor" | "admin";
        };
        NodeFigures: {
            cache_hits: number;
            /** @description US dollars */
            cost_usd: number;
            failed: number;
            /** @description milliseconds */
            mean_ms: number;
            node: string;
            /** @description milliseconds, to two significant digits */
            p95_ms: number | null;
            runs: number;
            success_rate: number;
            workflow: string;
        };
        Problem: {
            /** @description one sentence: what is wrong, and the way out */
            detail: string;
            errors?: {
                message: string;
                path: string;
            }[];
            findings?: components["schemas"]["Finding"][];
            status: number;
            title: string;
            type: string;
        };
        PublishedWorkflow: {
            findings?: components["schemas"]["Finding"][];
            id: string;
            /** @description why it has `failed` */
            reason?: string;
            /**
             * @description `publishing` while it waits for Step Functions; runs start once it is `ready`
             * @enum {string}
             */
            status: "publishing" | "ready" | "failed";
            version: number;
        };
        RotatedCredentials: {
            /** @description those that no key opens: store them anew */
            locked: string[];
            /** @description credentials that the new key has sealed */
            sealed: number;
        };
        StartedExecution: {
            execution_id: string;
            /** @enum {string} */
            status: "queued" | "running" | "waiting" | "completed" | "failed" | "cancelled" | "interrupted";
        };
        StoredFormat: {
            entity: string;
            /** @description null: the items have none */
            format: number | null;
            items: number;
            /**
             * @description what this release makes of it: it reads `current` and `older`
             * @enum {string}
             */
            state: "current" | "older" | "newer" | "unknown";
        };
        TakenEvent: {
            event_id: string;
            items: {
                execution_id: string;
                node: string;
                task_id: string;
            }[];
        };
        Task: {
            choices: string[];
            /** Format: date-time */
            created_at: string;
            execution_id: string;
            /** Format: date-time */
            expires_at: string;
            /** @description JSON schema of the data that comes with an answer */
            form: {
                [key: string]: unknown;
            } | null;
            message: string;
            node: string;
            task_id: string;
            to: string[];
            workflow: string;
        };
        /** @description in a context, `{"$upload": id}` stands for the bytes */
        Upload: {
            /** Format: date-time */
            expires_at: string;
            /** @description to be sent as they are: they are signed */
            headers: {
                [key: string]: string;
            };
            id: string;
            /** @constant */
            method: "PUT";
            /** Format: uri */
            url: string;
        };
        Validation: {
            findings: components["schemas"]["Finding"][];
            valid: boolean;
        };
        Verification: {
            erased: ({
                content: string;
                execution?: string;
                scope?: string;
                seq: number;
            } & {
                [key: string]: unknown;
            })[];
            execution_id: string;
            links: number;
            problem: ({
                execution?: string;
                message: string;
                scope?: string;
                seq: number;
            } & {
                [key: string]: unknown;
            }) | null;
            /** @enum {string} */
            state: "open" | "complete" | "anchored" | "broken";
        };
        WholeExecution: {
            client: string;
            /** @description numbers keep the digits that they were written with */
            context: {
                [key: string]: unknown;
            };
            duration_ms: number | null;
            ended_at: string | null;
            error: {
                class: string;
                message: string;
                node: string;
            } | null;
            execution_id: string;
            /** @description runs of code, once it is over */
            nodes: number | null;
            /** @description the node that runs it, in another execution */
            parent: {
                execution_id: string;
                scope: string;
                seq: number;
            } | null;
            /** @description nodes in the order in which they ran */
            path: string[];
            /** @description on models, once it is over */
            spent: {
                cost_usd: number;
                tokens_cached: number;
                tokens_input: number;
                tokens_output: number;
            } | null;
            /** Format: date-time */
            started_at: string;
            /** @enum {string} */
            status: "queued" | "running" | "waiting" | "completed" | "failed" | "cancelled" | "interrupted";
            version: number;
            workflow: string;
        };
        WholeWorkflow: {
            /** @description what new runs use; null until a version is ready */
            active_version: number | null;
            /** Format: date-time */
            created_at: string;
            /** @description the normalised definition */
            definition: {
                [key: string]: unknown;
            };
            hash: string;
            id: string;
            name: string;
            /** @description why it has `failed` */
            reason?: string;
            /**
             * @description `publishing` while it waits for Step Functions; runs start once it is `ready`
             * @enum {string}
             */
            status: "publishing" | "ready" | "failed";
            version: number;
        };
        Workflow: {
            /** @description what new runs use; null until a version is ready */
            active_version: number | null;
            /** Format: date-time */
            created_at: string;
            id: string;
            name: string;
            /** @description why it has `failed` */
            reason?: string;
            /**
             * @description `publishing` while it waits for Step Functions; runs start once it is `ready`
             * @enum {string}
             */
            status: "publishing" | "ready" | "failed";
            version: number;
        };
        WorkflowFigures: {
            cancelled: number;
            completed: number;
            /** @description US dollars */
            cost_usd: number;
            failed: number;
            interrupted: number;
            /** @description milliseconds */
            mean_ms: number;
            /** @description milliseconds, to two significant digits */
            p95_ms: number | null;
            runs: number;
            /** @description completed runs of all that ended */
            success_rate: number;
            workflow: string;
        };
        /** @description null or absent: no limit */
        WorkflowQuotas: {
            /** @description runs at once, of all clients together; others are `queued` */
            max_concurrent?: number | null;
            /** @description runs at once of each client */
            max_concurrent_per_client?: number | null;
        };
        WorkflowVersion: {
            active: boolean;
            /** Format: date-time */
            created_at: string;
            hash: string;
            /** @description why it has `failed` */
            reason?: string;
            /**
             * @description `publishing` while it waits for Step Functions; runs start once it is `ready`
             * @enum {string}
             */
            status: "publishing" | "ready" | "failed";
            version: number;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getAnalyticsAiCost: {
        parameters: {
            query?: {
                client?: string;
                /** @description `next_cursor` of the page before */
                cursor?: string;
                /** @description runs that ended then or later; 30 days ago where absent */
                from?: string;
                /** @description at most so many; 50 where absent */
                limit?: number;
                /** @description runs that ended then or earlier; a date means all of that day */
                to?: string;
                workflow?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description a page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["CostFigures"][];
                        next_cursor: string | null;
                    };
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getAnalyticsErrors: {
        parameters: {
            query?: {
                client?: string;
                /** @description `next_cursor` of the page before */
                cursor?: string;
                /** @description runs that ended then or later; 30 days ago where absent */
                from?: string;
                /** @description at most so many; 50 where absent */
                limit?: number;
                /** @description runs that ended then or earlier; a date means all of that day */
                to?: string;
                workflow?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description a page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["ErrorFigures"][];
                        next_cursor: string | null;
                    };
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getAnalyticsNodes: {
        parameters: {
            query?: {
                client?: string;
                /** @description `next_cursor` of the page before */
                cursor?: string;
                /** @description runs that ended then or later; 30 days ago where absent */
                from?: string;
                /** @description at most so many; 50 where absent */
                limit?: number;
                /** @description runs that ended then or earlier; a date means all of that day */
                to?: string;
                workflow?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description a page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["NodeFigures"][];
                        next_cursor: string | null;
                    };
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getAnalyticsWorkflows: {
        parameters: {
            query?: {
                client?: string;
                /** @description `next_cursor` of the page before */
                cursor?: string;
                /** @description runs that ended then or later; 30 days ago where absent */
                from?: string;
                /** @description at most so many; 50 where absent */
                limit?: number;
                /** @description runs that ended then or earlier; a date means all of that day */
                to?: string;
                workflow?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description a page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["WorkflowFigures"][];
                        next_cursor: string | null;
                    };
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getAudit: {
        parameters: {
            query?: {
                client?: string;
                /** @description `next_cursor` of the page before */
                cursor?: string;
                /** @description at most so many; 50 where absent */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description a page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["AuditRecord"][];
                        next_cursor: string | null;
                    };
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getClients: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string;
                /** @description at most so many; 50 where absent */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description a page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Client"][];
                        next_cursor: string | null;
                    };
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    postClients: {
        parameters: {
            query?: never;
            header?: {
                /** @description a repeated request with the same key does nothing again, for a day */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name: string;
                    slug: string;
                };
            };
        };
        responses: {
            /** @description the client */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Client"];
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getClientsSlug: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description the client */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Client"];
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deleteClientsSlug: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description it is being erased; `GET /clients/{slug}` answers 404 once it is gone */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    patchClientsSlug: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    name?: string;
                    /** @description who hears of its failed runs; replaced as a whole */
                    on_failure?: {
                        /** @description Who gets a mail. */
                        mail?: string[];
                        /** @description Where a failure is posted to, as JSON: an address, or `{url, secret}` with the name of the credential whose secret signs it. */
                        webhook?: string | {
                            /** @description Name of the credential whose secret signs it, in `x-nova-signature`. */
                            secret?: string;
                            /**
                             * Format: uri
                             * @description Where a failure is posted to, as JSON.
                             */
                            url: string;
                        };
                    };
                    /** @description versions of workflows that its runs use, whatever is active */
                    pins?: {
                        [key: string]: number;
                    };
                    /** @description replaced as a whole; needs a key for all clients */
                    quotas?: components["schemas"]["ClientQuotas"];
                    /** @description what contexts of its runs begin with; what a run is sent lies over it; replaced as a whole */
                    variables?: {
                        [key: string]: unknown;
                    };
                };
            };
        };
        responses: {
            /** @description the client */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Client"];
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getClientsSlugCredentials: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string;
                /** @description at most so many; 50 where absent */
                limit?: number;
            };
            header?: never;
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description a page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Credential"][];
                        next_cursor: string | null;
                    };
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getClientsSlugCredentialsName: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description the credential */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Credential"];
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    putClientsSlugCredentialsName: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
                slug: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @enum {string} */
                    kind: "email" | "database" | "http" | "oauth2" | "custom";
                    /** @description write-only: nothing ever answers with them */
                    values: {
                        [key: string]: unknown;
                    };
                };
            };
        };
        responses: {
            /** @description stored */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Credential"];
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deleteClientsSlugCredentialsName: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description removed */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getClientsSlugExport: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string;
            };
            header?: never;
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description a page; the last one has the seal */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["ExportRecord"][];
                        next_cursor: string | null;
                        /** @description signs what all pages held; of the last page */
                        seal?: string;
                    };
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    postCredentialsRotate: {
        parameters: {
            query?: never;
            header?: {
                /** @description a repeated request with the same key does nothing again, for a day */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RotatedCredentials"];
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getDeliveries: {
        parameters: {
            query?: {
                client?: string;
                /** @description `next_cursor` of the page before */
                cursor?: string;
                /** @description at most so many; 50 where absent */
                limit?: number;
                status?: "accepted" | "started" | "refused" | "failed";
                workflow?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description a page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Delivery"][];
                        next_cursor: string | null;
                    };
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    postEvents: {
        parameters: {
            query?: never;
            header?: {
                /** @description a repeated request with the same key does nothing again, for a day */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description what there is to say */
                    detail?: {
                        [key: string]: unknown;
                    };
                    /** @description put it on the bus: triggers hear of it too, and `items` is empty, since nobody waits for them */
                    on_bus?: boolean;
                    /** @description where it comes from, as in `shop.orders` */
                    source: string;
                    /** @description what happened, as in `OrderPaid` */
                    type: string;
                };
            };
        };
        responses: {
            /** @description what waited for it */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TakenEvent"];
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getExecutions: {
        parameters: {
            query?: {
                client?: string;
                /** @description `next_cursor` of the page before */
                cursor?: string;
                /** @description started then or later */
                from?: string;
                /** @description at most so many; 50 where absent */
                limit?: number;
                status?: "queued" | "running" | "waiting" | "completed" | "failed" | "cancelled" | "interrupted";
                /** @description started then or earlier; a date means all of that day */
                to?: string;
                workflow?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description a page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Execution"][];
                        next_cursor: string | null;
                    };
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getExecutionsId: {
        parameters: {
            query?: {
                /** @description large values stay references, as in the chain of work */
                references?: "" | "true" | "false";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description the execution */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WholeExecution"];
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getExecutionsIdBlobsSha: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                sha256: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description the address */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BlobLink"];
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    postExecutionsIdCancel: {
        parameters: {
            query?: never;
            header?: {
                /** @description a repeated request with the same key does nothing again, for a day */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description how it ended */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedExecution"];
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getExecutionsIdChain: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string;
                /** @description large values stay references; a link alone has them whole */
                full?: "" | "true" | "false";
                /** @description at most so many; 50 where absent */
                limit?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description a page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["ChainEntry"][];
                        next_cursor: string | null;
                    };
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getExecutionsIdChainSeq: {
        parameters: {
            query?: {
                full?: "" | "true" | "false";
                /** @description of a link in a branch; absent: the main line */
                scope?: string;
            };
            header?: never;
            path: {
                id: string;
                seq: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description the link */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChainEntry"];
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getExecutionsIdVerify: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description what the check found */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Verification"];
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getFormats: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description a page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["StoredFormat"][];
                        next_cursor: string | null;
                    };
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description runs can start; `degraded`: their code or models cannot be reached */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            /** @description runs cannot start */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    postHooksId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description it ended in the time that the trigger waits */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WholeExecution"];
                };
            };
            /** @description it runs; the same delivery again answers the same run */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedExecution"];
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getKeys: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string;
                /** @description at most so many; 50 where absent */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description a page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Key"][];
                        next_cursor: string | null;
                    };
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    postKeys: {
        parameters: {
            query?: never;
            header?: {
                /** @description a repeated request with the same key does nothing again, for a day */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description the one client that it reaches; absent: as far as the key that asks */
                    client_slug?: string;
                    name?: string;
                    /** @enum {string} */
                    role: "viewer" | "runner" | "editor" | "admin";
                };
            };
        };
        responses: {
            /** @description the key */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedKey"];
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deleteKeysId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description it is the key of the request */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getOpenapiJson: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OpenAPI 3.1 */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        openapi: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getTasks: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string;
                /** @description at most so many; 50 where absent */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description a page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Task"][];
                        next_cursor: string | null;
                    };
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    postTasksId: {
        parameters: {
            query?: never;
            header?: {
                /** @description a repeated request with the same key does nothing again, for a day */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description who answers; absent: the name of the key */
                    by?: string;
                    choice: string;
                    /** @description what the form asks for */
                    data?: Record<string, never> | unknown[] | string | number | boolean | null;
                };
            };
        };
        responses: {
            /** @description answered */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnsweredTask"];
                };
            };
            /** @description it waits no longer: answered before, expired, or the run is over */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    postUploads: {
        parameters: {
            query?: never;
            header?: {
                /** @description a repeated request with the same key does nothing again, for a day */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description exactly so many will be sent */
                    bytes: number;
                    client_slug?: string;
                    /** @description of the bytes, in hex: then S3 takes no others, and a run starts without reading them */
                    sha256?: string;
                    /**
                     * @description media type
                     * @example application/pdf
                     */
                    type?: string;
                };
            };
        };
        responses: {
            /** @description where to send the bytes */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Upload"];
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getWorkflows: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string;
                /** @description at most so many; 50 where absent */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description a page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Workflow"][];
                        next_cursor: string | null;
                    };
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    postWorkflows: {
        parameters: {
            query?: never;
            header?: {
                /** @description a repeated request with the same key does nothing again, for a day */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    definition?: {
                        [key: string]: unknown;
                    };
                    files?: {
                        [key: string]: string;
                    };
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description it was the latest version already */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PublishedWorkflow"];
                };
            };
            /** @description a new version, ready */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PublishedWorkflow"];
                };
            };
            /** @description a version, `publishing` until Step Functions has it, or `failed` with the reason */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PublishedWorkflow"];
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getWorkflowsId: {
        parameters: {
            query?: {
                version?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description the workflow */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WholeWorkflow"];
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    putWorkflowsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    definition?: {
                        [key: string]: unknown;
                    };
                    files?: {
                        [key: string]: string;
                    };
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description it was the latest version already */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PublishedWorkflow"];
                };
            };
            /** @description a new version, ready */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PublishedWorkflow"];
                };
            };
            /** @description a version, `publishing` until Step Functions has it, or `failed` with the reason */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PublishedWorkflow"];
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deleteWorkflowsId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description runs are open */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    postWorkflowsIdActivate: {
        parameters: {
            query?: never;
            header?: {
                /** @description a repeated request with the same key does nothing again, for a day */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    version: number;
                };
            };
        };
        responses: {
            /** @description activated */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActivatedWorkflow"];
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getWorkflowsIdAsl: {
        parameters: {
            query?: {
                version?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Amazon States Language */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        StartAt: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getWorkflowsIdCredentials: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string;
                /** @description at most so many; 50 where absent */
                limit?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description a page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Credential"][];
                        next_cursor: string | null;
                    };
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getWorkflowsIdCredentialsName: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description the credential */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Credential"];
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    putWorkflowsIdCredentialsName: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @enum {string} */
                    kind: "email" | "database" | "http" | "oauth2" | "custom";
                    /** @description write-only: nothing ever answers with them */
                    values: {
                        [key: string]: unknown;
                    };
                };
            };
        };
        responses: {
            /** @description stored */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Credential"];
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deleteWorkflowsIdCredentialsName: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description removed */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    postWorkflowsIdExecute: {
        parameters: {
            query?: {
                /** @description seconds */
                wait?: number;
            };
            header?: {
                /** @description a repeated request with the same key does nothing again, for a day */
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    client_slug?: string;
                    context?: {
                        [key: string]: unknown;
                    };
                    /** @description ids of prompt nodes whose code is written anew, whatever is kept or locked */
                    fresh?: string[];
                    /** @description no model is asked: prompt nodes run locked code, or fail */
                    frozen?: boolean;
                    /** @description absent: pinned for the client, or active */
                    version?: number;
                };
            };
        };
        responses: {
            /** @description it ended in time */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WholeExecution"];
                };
            };
            /** @description it runs, or waits for its turn (`queued`) */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedExecution"];
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getWorkflowsIdGenerations: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string;
                /** @description at most so many; 50 where absent */
                limit?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description a page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Generation"][];
                        next_cursor: string | null;
                    };
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getWorkflowsIdQuotas: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description the quotas */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowQuotas"];
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    putWorkflowsIdQuotas: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WorkflowQuotas"];
            };
        };
        responses: {
            /** @description the quotas */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowQuotas"];
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getWorkflowsIdVersions: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string;
                /** @description at most so many; 50 where absent */
                limit?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description a page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["WorkflowVersion"][];
                        next_cursor: string | null;
                    };
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    postWorkflowsValidate: {
        parameters: {
            query?: never;
            header?: {
                /** @description a repeated request with the same key does nothing again, for a day */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    definition?: {
                        [key: string]: unknown;
                    };
                    files?: {
                        [key: string]: string;
                    };
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description all findings; `valid` where none is an error */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Validation"];
                };
            };
            /** @description what is wrong, and the way out (RFC 9457) */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
}
