/**
 * The owner and the work of a line. A line is a sequence of states of an execution, such as a branch. A work is an
 * execution together with all executions that it starts. Owners take turns, and so do the works of one owner.
 */
export interface LineOwner {
  owner: string;
  /** The id of the work. */
  work: string;
  /**
   * The time at which the work started. If two works have equally many lines at work, the next line is one of the older
   * work.
   */
  since: number;
}

/** An execution together with all executions that it starts. */
interface Work {
  since: number;
  atWork: number;
  /**
   * Functions that start the waiting lines of this work. The first function is for the line that has waited the
   * longest.
   */
  waiting: (() => void)[];
}

interface Owner {
  works: Map<string, Work>;
  atWork: number;
  /** The number of the owner's last turn; 0 if it has had none. */
  lastTurn: number;
}

/**
 * Chooses which waiting line starts next. First it chooses the owner with the fewest lines at work. If several owners
 * have equally few, it chooses the owner whose last turn was the longest ago. Then it chooses the work of that owner
 * with the fewest lines at work. If several works have equally few, it chooses the oldest. Owners and works without a
 * waiting line do not count.
 */
export class Turns {
  readonly #owners = new Map<string, Owner>();
  #turn = 0;
  /** The number of waiting lines. */
  waiting = 0;

  wait(place: LineOwner, begin: () => void): void {
    this.#workOf(place).waiting.push(begin);
    this.waiting += 1;
  }

  /** Returns the function that starts the next line; undefined if no line waits. */
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
 * Returns the item with the smallest first number. Of several such items, it returns the one with the smallest second
 * number.
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
