import { lstatSync, readlinkSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { PYTHON_SOURCE, type Python } from "./python.ts";

/** The paths of our files inside a sandbox. No sandbox mounts another file or folder there. */
const INSIDE = { source: "/opt/nova/source", python: "/opt/nova/python", sites: "/opt/nova/site" };

/**
 * The number of blocks, each of 65,536 user ids. The first block belongs to the launcher, and each sandbox gets one of
 * the others.
 */
const BLOCKS = 1024;
const BLOCK_IDS = 65_536;
/**
 * The end of the range of user ids that systemd reserves for containers. No user of the host has an id in that range.
 */
const END_OF_CONTAINER_IDS = 1_879_048_192;
/** The user id on the host that the root user of the launcher has. Our blocks start with it. */
export const UNPRIVILEGED_ID = END_OF_CONTAINER_IDS - BLOCKS * BLOCK_IDS;

/**
 * The user ids that sandboxes have on the host: each sandbox has a block of its own, or all of them run as the user who
 * started the server. The kernel limits many resources per user id, so a sandbox with its own block cannot use up the
 * resources of other sandboxes.
 */
export type Identity = {
  ids: string;
  blocks: number;
  blockIds: number;
  userId: number;
  bubblewrapFlags: string[];
};

export const MANY_IDS: Identity = {
  ids: `0 ${UNPRIVILEGED_ID} ${BLOCKS * BLOCK_IDS}`,
  blocks: BLOCKS,
  blockIds: BLOCK_IDS,
  userId: 1000,
  bubblewrapFlags: [],
};

export const ONE_ID: Identity = {
  ids: "0 0 1",
  blocks: 1,
  blockIds: 1,
  userId: 0,
  bubblewrapFlags: ["--unshare-user", "--uid", "0", "--gid", "0"],
};

/**
 * The command that starts the launcher, and the paths at which the launcher finds its source, interpreter and packages.
 */
export type Launch = {
  command: string;
  args: string[];
  source: string;
  sites: string[];
  environment: Record<string, string>;
};

export function plainLaunch(python: Python, sites: string[]): Launch {
  return {
    command: python.executable,
    args: pythonArgs(PYTHON_SOURCE),
    source: PYTHON_SOURCE,
    sites,
    environment: innerEnvironment(`${dirname(python.executable)}:${process.env.PATH ?? ""}`, sites),
  };
}

export function enclosedLaunch(python: Python, sites: string[], identity: Identity, scratch: string): Launch {
  const system = isUnder(python.basePrefix, "/usr");
  const executable = system ? python.executable : join(INSIDE.python, relative(python.basePrefix, python.executable));
  const placed = sites.map((folder, index) => ({
    folder,
    inside: isUnder(folder, "/usr") ? folder : `${INSIDE.sites}/${index}`,
  }));
  const inside = placed.map((site) => site.inside);
  const path = `${system ? "" : `${INSIDE.python}/bin:`}/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin`;
  const environment = innerEnvironment(path, inside);
  if (!system) environment.LD_LIBRARY_PATH = `${INSIDE.python}/lib`;
  const args = [
    ...["--die-with-parent", "--unshare-pid", "--unshare-ipc", "--cap-add", "ALL", ...identity.bubblewrapFlags],
    ...systemFolders(),
    ...["--dir", "/opt", "--dir", "/opt/nova", "--dir", INSIDE.sites],
    ...["--ro-bind", PYTHON_SOURCE, INSIDE.source],
    ...(system ? [] : ["--ro-bind", python.basePrefix, INSIDE.python]),
    ...placed.filter((site) => site.folder !== site.inside).flatMap((site) => ["--ro-bind", site.folder, site.inside]),
    ...configuration(scratch),
    ...["--proc", "/proc", "--dev", "/dev", "--dir", "/mnt", "--remount-ro", "/dev", "--remount-ro", "/"],
    ...["--clearenv", ...Object.entries(environment).flatMap(([name, value]) => ["--setenv", name, value])],
    ...[executable, ...pythonArgs(INSIDE.source)],
  ];
  return { command: "bwrap", args, source: INSIDE.source, sites: inside, environment };
}

/**
 * Returns arguments that isolate Python from the environment and folders of this process. They also turn off the module
 * `site`, because the launcher itself does the work of this module.
 */
function pythonArgs(source: string): string[] {
  const start = "import sys; sys.path.insert(0, sys.argv.pop()); from nova_sandboxd.launch import main; main()";
  return ["-I", "-S", "-B", "-c", start, source];
}

function innerEnvironment(path: string, sites: string[]): Record<string, string> {
  const passed = ["LANG", "TZ", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "SSL_CERT_FILE"].flatMap((name) =>
    process.env[name] ? [[name, process.env[name]]] : [],
  );
  return { PATH: path, HOME: "/root", PYTHONPATH: sites.join(":"), LANG: "C.UTF-8", ...Object.fromEntries(passed) };
}

function systemFolders(): string[] {
  const links = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"].flatMap((path) => {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (!found) return [];
    return found.isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path];
  });
  return ["--ro-bind", "/usr", "/usr", ...links, "--ro-bind-try", "/nix/store", "/nix/store"];
}

/**
 * Returns arguments that mount the files in /etc which programs need. The files for host names, certificates and fonts
 * are those of the host. The files for users and groups list only the users and groups of E2B's template.
 */
function configuration(scratch: string): string[] {
  const users =
    "root:x:0:0:root:/root:/bin/bash\nuser:x:1000:1000::/home/user:/bin/bash\nnobody:x:65534:65534::/:/bin/false\n";
  const groups = "root:x:0:\nuser:x:1000:\ntty:x:5:\nnogroup:x:65534:\n";
  const own = { passwd: users, group: groups, hostname: "e2b.local\n" };
  const shared = ["hosts", "ssl", "pki", "ca-certificates", "nsswitch.conf", "localtime", "ld.so.cache", "ld.so.conf"];
  const more = ["ld.so.conf.d", "alternatives", "mime.types", "fonts", "services", "protocols"];
  return [
    ...["--dir", "/etc"],
    ...[...shared, ...more].flatMap((name) => ["--ro-bind-try", `/etc/${name}`, `/etc/${name}`]),
    ...resolverMounts(),
    ...Object.entries(own).flatMap(([name, text]) => {
      writeFileSync(join(scratch, name), text, { mode: 0o644 });
      return ["--ro-bind", join(scratch, name), `/etc/${name}`];
    }),
  ];
}

/**
 * Returns arguments that mount the target of /etc/resolv.conf. Often /etc/resolv.conf is a link into /run, a folder
 * that the sandbox does not have.
 */
function resolverMounts(): string[] {
  try {
    return ["--ro-bind", realpathSync("/etc/resolv.conf"), "/etc/resolv.conf"];
  } catch {
    return [];
  }
}

function isUnder(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
