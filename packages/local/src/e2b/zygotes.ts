import { existsSync, rmSync } from "node:fs";
import { type Identity, MANY_IDS, ONE_ID } from "./bubblewrap.ts";
import type { Python } from "./python.ts";
import { makeScratch, NoScratch } from "./scratch.ts";
import { Zygote, type ZygoteOptions } from "./zygote.ts";

/** One zygote per set of package folders: mounts are fixed when it starts, and templates may add folders later. */
export class Zygotes {
  readonly isolated: boolean;
  #python: Python;
  #identity: Identity | undefined;
  #scratch: string;
  #options: ZygoteOptions;
  #bySites = new Map<string, Promise<Zygote>>();
  #started = new Set<Zygote>();
  #active = 0;

  static async open(python: Python, options: ZygoteOptions): Promise<Zygotes> {
    const scratch = makeScratch();
    try {
      return await Zygotes.#openIn(scratch, python, options);
    } catch (error) {
      rmSync(scratch, { recursive: true, force: true });
      throw error;
    }
  }

  static async #openIn(scratch: string, python: Python, options: ZygoteOptions): Promise<Zygotes> {
    const reasons: string[] = [];
    for (const identity of possibleIdentities()) {
      try {
        const zygote = await Zygote.start(python, python.siteFolders, identity, scratch, options);
        return new Zygotes(python, identity, scratch, options, zygote);
      } catch (error) {
        if (error instanceof NoScratch) throw error;
        reasons.push((error as Error).message);
        // Without bubblewrap no identity works, and each attempt copies this process.
        if (((error as Error).cause as NodeJS.ErrnoException | undefined)?.code === "ENOENT") break;
      }
    }
    const why = reasons[0] ?? "bubblewrap is for Linux only";
    options.warn(
      `sandboxes are not isolated from this machine, run only code that you trust (${why}) - on Linux install bubblewrap and allow user namespaces`,
    );
    const zygote = await Zygote.start(python, python.siteFolders, undefined, scratch, options);
    return new Zygotes(python, undefined, scratch, options, zygote);
  }

  private constructor(
    python: Python,
    identity: Identity | undefined,
    scratch: string,
    options: ZygoteOptions,
    first: Zygote,
  ) {
    this.isolated = identity !== undefined;
    this.#python = python;
    this.#identity = identity;
    this.#scratch = scratch;
    this.#options = options;
    this.#bySites.set(key(python.siteFolders), Promise.resolve(first));
    this.#adopt(first);
  }

  #adopt(zygote: Zygote): void {
    this.#started.add(zygote);
    zygote.setActive(this.#active > 0);
  }

  /** The one whose sandboxes also see these package folders; folders that do not exist are left out. */
  async withSites(extra: string[]): Promise<Zygote> {
    const { siteFolders } = this.#python;
    const sites = [...extra.filter((folder) => existsSync(folder) && !siteFolders.includes(folder)), ...siteFolders];
    const known = this.#bySites.get(key(sites));
    if (known && (await known).alive) return known;
    if (known !== this.#bySites.get(key(sites))) return this.withSites(extra); // somebody else has replaced it meanwhile
    const starting = Zygote.start(this.#python, sites, this.#identity, this.#scratch, this.#options);
    this.#bySites.set(key(sites), starting);
    starting.then(
      (zygote) => this.#adopt(zygote),
      () => this.#bySites.delete(key(sites)),
    );
    return starting;
  }

  /** Called around every request, so that packages are imported in the pauses only. */
  began(): void {
    if (this.#active++ === 0) for (const zygote of this.#started) zygote.setActive(true);
  }

  finished(): void {
    if (--this.#active === 0) for (const zygote of this.#started) zygote.setActive(false);
  }

  /** Packages that are there but cannot be imported; known once the zygotes are warm. */
  failedImports(): string[] {
    return [...this.#started].flatMap((zygote) => zygote.failedImports);
  }

  async warmed(): Promise<void> {
    await Promise.all([...this.#started].map((zygote) => zygote.warmed));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#started].map((zygote) => zygote.close()));
    rmSync(this.#scratch, { recursive: true, force: true });
  }
}

function possibleIdentities(): Identity[] {
  if (process.platform !== "linux") return [];
  return process.getuid?.() === 0 ? [MANY_IDS, ONE_ID] : [ONE_ID];
}

function key(sites: string[]): string {
  return sites.join("\0");
}
