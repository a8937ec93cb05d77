import { existsSync, rmSync } from "node:fs";
import { type Identity, MANY_IDS, ONE_ID } from "./bubblewrap.ts";
import { E2bServerError } from "./http.ts";
import type { Python } from "./python.ts";
import { makeScratch, NoScratch } from "./scratch.ts";
import { Zygote, type ZygoteOptions } from "./zygote.ts";

/**
 * The zygotes of this server: Python processes from which sandboxes are forked. Each set of package folders needs its
 * own zygote, because the folders are mounted when it starts.
 */
export class Zygotes {
  /** Whether sandboxes are isolated. Known when the first zygote has started. */
  isolated = false;
  #choose: () => Promise<Python>;
  #python: Promise<Python> | undefined;
  #scratch = makeScratch();
  #options: ZygoteOptions;
  #identity: Promise<Identity | undefined> | undefined;
  #bySites = new Map<string, Promise<Zygote>>();
  #started = new Set<Zygote>();
  #active = 0;

  constructor(choose: () => Promise<Python>, options: ZygoteOptions) {
    this.#choose = choose;
    this.#options = options;
  }

  async #start(sites: string[]): Promise<Zygote> {
    if (this.#identity) return this.#startAs(await this.#identity, sites);
    const first = this.#startFirst(sites);
    this.#identity = first.then(({ identity }) => identity);
    this.#identity.catch(() => {
      this.#identity = undefined;
    });
    const { zygote, identity } = await first;
    this.isolated = identity !== undefined;
    return zygote;
  }

  async #startAs(identity: Identity | undefined, sites: string[]): Promise<Zygote> {
    return Zygote.start(await this.#choosePython(), sites, identity, this.#scratch, this.#options);
  }

  /** Chooses the Python at the first call. If that fails, the next call chooses again. */
  #choosePython(): Promise<Python> {
    if (!this.#python) {
      this.#python = this.#choose();
      this.#python.catch(() => {
        this.#python = undefined;
      });
    }
    return this.#python;
  }

  /**
   * Starts the first zygote, with the best isolation that this machine supports. Rejects if the start fails for another
   * reason than missing support, such as a temporary shortage. Then the next caller tries again.
   */
  async #startFirst(sites: string[]): Promise<{ zygote: Zygote; identity: Identity | undefined }> {
    const reasons: string[] = [];
    for (const identity of possibleIdentities()) {
      try {
        const zygote = await this.#startAs(identity, sites);
        if (reasons[0] !== undefined) this.#options.warn(sharedIdWarning(reasons[0]));
        return { zygote, identity };
      } catch (error) {
        const isMissing = isNoBubblewrap(error);
        if (!isMissing && !isUnsupported(error) && !(identity === MANY_IDS && isUnreadable(error))) throw error;
        reasons.push((error as Error).message);
        // The other identities need bubblewrap, too, so further attempts would only cost time.
        if (isMissing) break;
      }
    }
    const why = reasons[0] ?? "bubblewrap is for Linux only";
    this.#options.warn(
      `sandboxes are not isolated from this machine, run only code that you trust (${why}) - on Linux install bubblewrap and allow user namespaces`,
    );
    return { zygote: await this.#startAs(undefined, sites), identity: undefined };
  }

  #adopt(zygote: Zygote): void {
    this.#started.add(zygote);
    zygote.setActive(this.#active > 0);
  }

  /**
   * Returns the zygote whose sandboxes also see the package folders from `extraFor`, and starts it if necessary.
   * Folders that do not exist are ignored.
   */
  async withSites(extraFor: (python: Python) => string[] = () => []): Promise<Zygote> {
    const python = await this.#choosePython();
    const { siteFolders } = python;
    const sites = [
      ...extraFor(python).filter((folder) => existsSync(folder) && !siteFolders.includes(folder)),
      ...siteFolders,
    ];
    const known = this.#bySites.get(key(sites));
    if (known && (await known).alive) return known;
    // Another caller has replaced this launcher meanwhile.
    if (known !== this.#bySites.get(key(sites))) return this.withSites(extraFor);
    const starting = this.#start(sites);
    this.#bySites.set(key(sites), starting);
    starting.then(
      (zygote) => this.#adopt(zygote),
      () => this.#bySites.delete(key(sites)),
    );
    return starting;
  }

  /** Call this before every request, so that packages are imported only between requests. */
  requestStarted(): void {
    if (this.#active++ === 0) for (const zygote of this.#started) zygote.setActive(true);
  }

  requestEnded(): void {
    if (--this.#active === 0) for (const zygote of this.#started) zygote.setActive(false);
  }

  wantPackages(): void {
    for (const zygote of this.#started) zygote.wantPackages();
  }

  async warmed(): Promise<void> {
    this.wantPackages();
    await Promise.all([...this.#started].map((zygote) => zygote.warmed));
  }

  async close(): Promise<void> {
    // A zygote that is just starting can be closed only after its start.
    await this.#python?.catch(() => undefined);
    await Promise.allSettled(this.#bySites.values());
    await Promise.all([...this.#started].map((zygote) => zygote.close()));
    rmSync(this.#scratch, { recursive: true, force: true });
  }
}

function possibleIdentities(): Identity[] {
  if (process.platform !== "linux") return [];
  return process.getuid?.() === 0 ? [MANY_IDS, ONE_ID] : [ONE_ID];
}

function isNoBubblewrap(error: unknown): boolean {
  return ((error as Error).cause as NodeJS.ErrnoException | undefined)?.code === "ENOENT";
}

/**
 * Matches the errors of bubblewrap and of our launcher if the kernel or a security module does not allow this user a
 * system call.
 */
const unsupported =
  /Operation not permitted|Function not implemented|Invalid argument|Permission denied|No permissions to create/;

/**
 * Returns whether an error says that this machine does not support the isolation. Any other error may be a temporary
 * shortage, which code in another sandbox can cause. Such an error must not turn isolation off.
 */
function isUnsupported(error: unknown): boolean {
  return error instanceof E2bServerError && !(error instanceof NoScratch) && unsupported.test(error.message);
}

/**
 * Returns whether the launcher could not read our modules. A launcher with many user ids runs as a user who may have no
 * right to read the modules. A launcher with one user id always has this right.
 */
function isUnreadable(error: unknown): boolean {
  return error instanceof E2bServerError && error.message.includes("ModuleNotFoundError");
}

function sharedIdWarning(reason: string): string {
  const limits = "code of one client can use up what the kernel counts per user";
  const wayOut = "let all users read NOVA's folders, and run it outside of containers without such ids";
  return `all sandboxes share one user id, so ${limits} (${reason}) - ${wayOut}`;
}

function key(sites: string[]): string {
  return sites.join("\0");
}
