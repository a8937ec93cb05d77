import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { Worker } from "node:worker_threads";

/** A PostgreSQL database, in the fields of a credential of that kind. */
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

/** That of `DATABASE_URL`; else one of our own, which keeps its rows in `folder`. */
export async function openDatabase(folder: string, url = process.env.DATABASE_URL): Promise<OpenDatabase> {
  return url ? { ...databaseAt(url), close: async () => undefined } : openOwn(folder);
}

/** Throws `RangeError` where the address is none of PostgreSQL. */
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
 * PGlite behind its socket, in a thread of its own: it starts and works beside the runs. It lets in whoever is on this
 * machine.
 */
async function openOwn(folder: string): Promise<OpenDatabase> {
  await mkdir(folder, { recursive: true });
  const worker = new Worker(new URL("./postgres-worker.ts", import.meta.url), { workerData: { folder } });
  const [port] = (await once(worker, "message")) as [number];
  const password = randomBytes(12).toString("hex");
  return {
    ...{ host: "127.0.0.1", port, name: "postgres", user: "postgres", password, sslmode: "disable" },
    async close() {
      const closed = once(worker, "exit");
      worker.postMessage("close");
      await closed;
    },
  };
}
