import { access, chmod, constants, mkdir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { LocalCloudError } from "./errors.ts";

/** Files that hold values, keys or names. */
const holdsData = /^(?:dynamodb\.sqlite|keys\.json|credential-keys\.json|api-key|owner\.json)/;
const dataFolders = new Set(["s3", "states", "events", "schedules", "mail", "incoming-mail", "demo", "batch"]);
/** NOVA's other files: Python, its packages, and an empty lock file. */
const harmless = new Set(["python.json", "templates", "docstrings", "owner.lock", "lost+found"]);

/** The permission bits of all users but the owner. */
const others = 0o077;

/** Makes a data folder, or closes an existing one to all users but its owner. Throws `LocalCloudError`. */
export async function makePrivateFolder(dataDir: string): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await closeFolder(dataDir);
  } catch (cause) {
    if (cause instanceof LocalCloudError) throw cause;
    const advice = "make it a folder that you may write to, or name another one in NOVA_DATA_DIR";
    throw new LocalCloudError(`the data folder ${dataDir} cannot be used - ${advice}`, { cause });
  }
}

async function closeFolder(dataDir: string): Promise<void> {
  const { uid, mode } = await stat(dataDir);
  const isWritable = (mode & 0o222) !== 0;
  // Windows has no such ids. A read-only folder stays as it is.
  const own = process.getuid?.();
  if (own === undefined || !isWritable) return;
  const names = await readdir(dataDir);
  const isNew = !names.some((name) => name.startsWith("keys.json"));
  if (uid !== own) {
    if (!(await mayWrite(dataDir))) return;
    throw refused(dataDir, `belongs to another user (${uid}), who could read everything in it`);
  }
  const foreign = names.find((name) => !name.startsWith(".") && !holds(name) && !harmless.has(name));
  if (isNew && foreign !== undefined && (mode & others) !== 0)
    throw refused(dataDir, `is open to other users and has other files in it, such as ${foreign}`);
  await Promise.all([closeToOthers(dataDir), ...names.filter(holds).map((name) => closeToOthers(join(dataDir, name)))]);
}

function holds(name: string): boolean {
  return holdsData.test(name) || dataFolders.has(name);
}

function refused(dataDir: string, why: string): LocalCloudError {
  const advice = "name a folder of your own in NOVA_DATA_DIR, or make this one yours alone (chown, chmod 700)";
  return new LocalCloudError(`the data folder ${dataDir} ${why} - ${advice}`);
}

async function mayWrite(folder: string): Promise<boolean> {
  return access(folder, constants.W_OK).then(
    () => true,
    () => false,
  );
}

/** Skips a file that disappears meanwhile, or that is on a disk without modes. */
async function closeToOthers(path: string): Promise<void> {
  try {
    const { mode } = await stat(path);
    if ((mode & others) !== 0) await chmod(path, mode & 0o700);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (!["ENOENT", "EROFS", "ENOTSUP", "EPERM"].includes(code)) throw error;
  }
}
