import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { Worker } from "node:worker_threads";
import { Client } from "pg";

/** A PostgreSQL database, with the fields of a `database` credential. */
export interface Database {
  host: string;
  port: number;
  name: string;
  user: string;
  password: string;
  sslmode: string;
}

export interface OpenDatabase extends Database {
  close(): Promise<void>;
}

/** Opens the database of `DATABASE_URL`. Without it, starts a database that stores its rows in `folder`. */
export async function openDatabase(folder: string, url = process.env.DATABASE_URL): Promise<OpenDatabase> {
  return url ? { ...databaseAt(url), close: async () => undefined } : openOwn(folder);
}

/** Parses the address of a PostgreSQL database. Throws `RangeError` for any other address. */
export function databaseAt(text: string): Database {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^postgres(ql)?:$/.test(url.protocol) || url.hostname === "") {
    throw new RangeError("DATABASE_URL is no address such as postgres://user:password@host:5432/name - correct it");
  }
  const user = decodeURIComponent(url.username) || "postgres";
  return {
    host: url.hostname,
    port: Number(url.port || 5432),
    name: decodeURIComponent(url.pathname.slice(1)) || user,
    user,
    password: decodeURIComponent(url.password),
    sslmode: url.searchParams.get("sslmode") ?? "prefer",
  };
}

/**
 * Starts PGlite with a socket in a separate thread, so that it does not block the runs. Every user of this machine can
 * connect to it.
 */
async function openOwn(folder: string): Promise<OpenDatabase> {
  await mkdir(folder, { recursive: true });
  const worker = new Worker(new URL("./database-worker.ts", import.meta.url), { workerData: { folder } });
  const [port] = (await once(worker, "message")) as [number];
  const password = randomBytes(12).toString("hex");
  return {
    host: "127.0.0.1",
    port,
    name: "postgres",
    user: "postgres",
    password,
    sslmode: "disable",
    async close() {
      const closed = once(worker, "exit");
      worker.postMessage("close");
      await closed;
    },
  };
}

export interface Booking {
  execution_id: string;
  file: string | null;
  sender: string;
  /** The amount as PostgreSQL formats it: `717.97`. */
  amount: string | null;
  currency: string | null;
  branch: string;
}

const table = `CREATE TABLE IF NOT EXISTS invoices (
  id text PRIMARY KEY,
  execution_id text NOT NULL,
  file text,
  sender text NOT NULL,
  subject text NOT NULL,
  amount numeric,
  currency text,
  branch text NOT NULL,
  booked_at timestamptz NOT NULL DEFAULT now()
)`;

/** Creates the table for the invoices if it is missing. In production, an operator does this before the first run. */
export async function prepareBookings(database: Database): Promise<void> {
  await asking(database, (client) => client.query(table));
}

export async function readBookings(database: Database, executions: readonly string[]): Promise<Booking[]> {
  const select = "SELECT execution_id, file, sender, amount, currency, branch FROM invoices";
  const query = `${select} WHERE execution_id = ANY($1) ORDER BY booked_at, execution_id`;
  return asking(database, async (client) => (await client.query<Booking>(query, [executions])).rows);
}

async function asking<T>(database: Database, ask: (client: Client) => Promise<T>): Promise<T> {
  const { name, sslmode, ...rest } = database;
  const ssl = sslmode === "disable" || sslmode === "prefer" ? false : {};
  const client = new Client({ ...rest, database: name, ssl });
  await client.connect();
  try {
    return await ask(client);
  } finally {
    await client.end();
  }
}
