/**
 * The owner of a line, and the piece of work of that owner to which the line belongs. A line is a sequence of states of
 * an execution, such as a branch. Owners take turns, and so do the pieces of work of one owner.
 */
export interface LineOwner {
  owner: string;
  /** The id of a work: an execution together with all executions that it starts. */
  work: string;
  /**
   * The time at which the work started. If two works have equally many lines of states at work, a line of the older
   * work is next.
   */
  since: number;
}

/** An execution together with everything that it starts. */
interface Work {
  since: number;
  atWork: number;
  /** Functions that start the waiting lines of states of this work. The first line has waited the longest. */
  waiting: (() => void)[];
}

interface Owner {
  works: Map<string, Work>;
  atWork: number;
  /** The number of the owner's last turn; 0 if it has had none. */
  lastTurn: number;
}

/**
 * Chooses which waiting line of states starts next. First it chooses the owner with the fewest lines at work; if
 * several owners have equally few, the one whose last turn was the longest ago. Then it chooses that owner's work with
 * the fewest lines at work; if several works have equally few, the oldest.
 */
export class Turns {
  readonly #owners = new Map<string, Owner>();
  #turn = 0;
  /** The number of lines of states that wait. */
  waiting = 0;

  wait(place: LineOwner, begin: () => void): void {
    this.#workOf(place).waiting.push(begin);
    this.waiting += 1;
  }

  /** Returns the function that starts the next line of states; undefined if no line waits. */
  next(): (() => void) | undefined {
    const owners = this.#owners.values().filter(({ works }) => works.values().some(isWaiting));
    const owner = findLeast(owners, ({ atWork, lastTurn }) => [atWork, lastTurn]);
    const work = owner && findLeast(owner.works.values().filter(isWaiting), ({ atWork, since }) => [atWork, since]);
    if (!work) return undefined;
    owner.lastTurn = ++this.#turn;
    this.waiting -= 1;
    return work.waiting.shift();
  }

  began(place: LineOwner): void {
    this.#count(place, 1);
  }

  ended(place: LineOwner): void {
    this.#count(place, -1);
    const owner = this.#ownerOf(place.owner);
    if (isOver(this.#workOf(place))) owner.works.delete(place.work);
    if (owner.works.size === 0) this.#owners.delete(place.owner);
  }

  #count(place: LineOwner, lines: 1 | -1): void {
    this.#workOf(place).atWork += lines;
    this.#ownerOf(place.owner).atWork += lines;
  }

  #ownerOf(name: string): Owner {
    const owner = this.#owners.get(name) ?? { works: new Map(), atWork: 0, lastTurn: 0 };
    this.#owners.set(name, owner);
    return owner;
  }

  #workOf({ owner, work: name, since }: LineOwner): Work {
    const { works } = this.#ownerOf(owner);
    const work = works.get(name) ?? { since, atWork: 0, waiting: [] };
    works.set(name, work);
    return work;
  }
}

function isWaiting({ waiting }: Work): boolean {
  return waiting.length > 0;
}

function isOver({ atWork, waiting }: Work): boolean {
  return atWork === 0 && waiting.length === 0;
}

/**
 * Returns the item with the smallest first number. If several items have it, their second numbers decide in the same
 * way.
 */
function findLeast<T>(items: Iterable<T>, numbersOf: (item: T) => [number, number]): T | undefined {
  let [best, lowest]: [T | undefined, [number, number]] = [undefined, [Number.POSITIVE_INFINITY, 0]];
  for (const item of items) {
    const numbers = numbersOf(item);
    if (numbers[0] > lowest[0] || (numbers[0] === lowest[0] && numbers[1] >= lowest[1])) continue;
    [best, lowest] = [item, numbers];
  }
  return best;
}
