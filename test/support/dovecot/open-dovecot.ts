import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

/** Path of dovecot on Debian (`apt-get install dovecot-imapd`). */
const program = "/usr/sbin/dovecot";
export const hasDovecot = existsSync(program) && process.getuid?.() === 0;

export interface Dovecot {
  port: number;
  user: string;
  password: string;
  /** Puts an unread mail into the inbox. */
  deliver(mail: Buffer | string): Promise<void>;
  /** Returns the flags of the delivered mails in order; `S` means seen. */
  flags(): Promise<string[]>;
  close(): Promise<void>;
}

/** Starts a real IMAP server on a free port, with one user and a Maildir in a temporary folder. */
export async function openDovecot(): Promise<Dovecot> {
  const dir = await mkdtemp(join(tmpdir(), "nova-dovecot-"));
  const [port, user, password] = [await freePort(), "anna@example.com", "s3cret-of-the-mailbox"];
  const inbox = await makeMaildir(dir);
  await writeFile(join(dir, "users"), `${user}:{PLAIN}${password}::::${dir}/home::\n`, { mode: 0o644 });
  await writeFile(join(dir, "dovecot.conf"), configuration({ dir, port }));
  const server = spawn(program, ["-F", "-c", join(dir, "dovecot.conf")], { stdio: "ignore" });
  await untilOpen(port, server);
  let delivered = 0;
  return {
    port,
    user,
    password,
    async deliver(mail) {
      delivered += 1;
      const path = join(inbox, "new", `${1_700_000_000 + delivered}.M${delivered}.nova`);
      await writeFile(path, mail);
      await chown(path, mailUser, mailUser);
    },
    async flags() {
      const names = [...(await readdir(join(inbox, "cur"))), ...(await readdir(join(inbox, "new")))];
      return names.sort().map((name) => name.split(":2,")[1] ?? "");
    },
    async close() {
      const ended = new Promise((resolve) => server.once("exit", resolve));
      server.kill("SIGTERM");
      await ended;
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** The id of Debian's user `mail`. Dovecot refuses to read mails as root. */
const mailUser = 8;

async function makeMaildir(dir: string): Promise<string> {
  // Dovecot starts processes of other users, which must be able to read this folder.
  await chmod(dir, 0o755);
  const inbox = join(dir, "home", "Maildir");
  for (const folder of ["cur", "new", "tmp"]) await mkdir(join(inbox, folder), { recursive: true });
  for (const path of [dir, join(dir, "home"), inbox, ...["cur", "new", "tmp"].map((name) => join(inbox, name))]) {
    await chown(path, mailUser, mailUser);
  }
  return inbox;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Polls the port until it accepts connections, because dovecot does not report when it is ready. */
async function untilOpen(port: number, server: ChildProcess): Promise<void> {
  for (let left = 200; left > 0; left--) {
    if (server.exitCode !== null) break;
    if (await answers(port)) return;
    await pause(25);
  }
  throw new Error(`dovecot did not open port ${port} - see journalctl, or run it by hand with -F`);
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("data", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

/**
 * Returns a minimal configuration for dovecot 2.3: IMAP without TLS on this machine, users in a file, mails in a
 * Maildir. `anvil-auth-penalty` is off, because dovecot would delay logins after a wrong password.
 */
function configuration({ dir, port }: { dir: string; port: number }): string {
  return `
base_dir = ${dir}/run
state_dir = ${dir}/state
log_path = ${dir}/dovecot.log
protocols = imap
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
auth_mechanisms = plain login
auth_failure_delay = 0
first_valid_uid = 8
mail_location = maildir:~/Maildir
maildir_stat_dirs = yes
service imap-login {
  chroot =
  inet_listener imap {
    port = ${port}
  }
  inet_listener imaps {
    port = 0
  }
}
service anvil {
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
passdb {
  driver = passwd-file
  args = ${dir}/users
}
userdb {
  driver = static
  args = uid=8 gid=8 home=${dir}/home
}
`;
}
