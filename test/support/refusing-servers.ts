import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";

/** Servers on 127.0.0.1 that refuse every login, one for each protocol. */
export interface RefusingServers extends AsyncDisposable {
  port: Record<"http" | "imap" | "smtp", number>;
}

export async function refusingServers(): Promise<RefusingServers> {
  const servers: Record<keyof RefusingServers["port"], Server> = {
    http: createHttpServer((_, response) => response.writeHead(503).end("busy")),
    imap: createServer((socket) => speak(socket, "* OK ready", imapAnswer)),
    smtp: createServer((socket) => speak(socket, "220 ready", smtpAnswer)),
  };
  const all = Object.values(servers);
  await Promise.all(all.map((server) => new Promise<void>((done) => server.listen(0, "127.0.0.1", done))));
  const portOf = (server: Server) => (server.address() as AddressInfo).port;
  return {
    port: { http: portOf(servers.http), imap: portOf(servers.imap), smtp: portOf(servers.smtp) },
    async [Symbol.asyncDispose]() {
      await Promise.all(all.map((server) => new Promise((done) => server.close(done))));
    },
  };
}

/** Answers each command of a client. A broken connection is ignored. */
function speak(socket: Socket, greeting: string, answer: (command: string) => string): void {
  socket.on("error", () => {});
  socket.on("data", (data) => socket.write(`${answer(String(data))}\r\n`));
  socket.write(`${greeting}\r\n`);
}

function imapAnswer(command: string): string {
  const [tag = "", name = ""] = command.split(" ");
  if (/^capability/i.test(name)) return `* CAPABILITY IMAP4rev1\r\n${tag} OK done`;
  return /^login/i.test(name) ? `${tag} NO [AUTHENTICATIONFAILED] Authentication failed.` : `${tag} OK done`;
}

function smtpAnswer(command: string): string {
  if (/^ehlo/i.test(command)) return "250-ready\r\n250 AUTH LOGIN PLAIN";
  return /^auth/i.test(command) ? "535 5.7.8 Authentication failed" : "250 ok";
}
