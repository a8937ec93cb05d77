import { Client } from "pg";
import type { Database } from "./postgres.ts";

/** A row of the table that the invoice workflow books in. */
export interface Booking {
  execution_id: string;
  file: string | null;
  sender: string;
  /** As PostgreSQL writes it: `717.97`. */
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

/** Makes the table where it is not there: who runs the workflow has done so before. */
export async function prepareBookings(database: Database): Promise<void> {
  await asking(database, (client) => client.query(table));
}

/** What these executions booked, in the order of booking. */
export async function readBookings(database: Database, executions: readonly string[]): Promise<Booking[]> {
  const select = "SELECT execution_id, file, sender, amount, currency, branch FROM invoices";
  const query = `${select} WHERE execution_id = ANY($1) ORDER BY booked_at, execution_id`;
  return asking(database, async (client) => (await client.query<Booking>(query, [executions])).rows);
}

async function asking<T>(database: Database, ask: (client: Client) => Promise<T>): Promise<T> {
  const { name, sslmode, ...rest } = database;
  const client = new Client({
    ...rest,
    database: name,
    ssl: sslmode === "disable" || sslmode === "prefer" ? false : {},
  });
  await client.connect();
  try {
    return await ask(client);
  } finally {
    await client.end();
  }
}
