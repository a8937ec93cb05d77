import { createServer } from "node:net";
import { parentPort, workerData } from "node:worker_threads";
import { PGlite } from "@electric-sql/pglite";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";

const host = "127.0.0.1";
const { folder } = workerData as { folder: string };
const db = await PGlite.create(folder);
const port = await freePort();
const server = new PGLiteSocketServer({ db, host, port, maxConnections: 20 });
await server.start();

parentPort?.once("message", async () => {
  await server.stop();
  await db.close();
  process.exit();
});
parentPort?.postMessage(port);

/** Finds a free port. The socket server could choose a port itself, but could not report its number. */
async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, host, resolve));
  const { port: free } = probe.address() as { port: number };
  await new Promise((resolve) => probe.close(resolve));
  return free;
}
