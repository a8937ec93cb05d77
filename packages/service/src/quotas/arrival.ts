import type { Ticket } from "../ports/slots.ts";

/** The tickets of several queues as one, each once, in the order of arrival; no queue is read further than needed. */
export async function* inOrderOfArrival(queues: readonly AsyncIterable<Ticket>[]): AsyncIterable<Ticket> {
  const readers = queues.map((queue) => queue[Symbol.asyncIterator]());
  const heads = await Promise.all(readers.map((reader) => reader.next()));
  for (;;) {
    const tickets = heads.flatMap(({ done, value }) => (done ? [] : [value as Ticket]));
    const [first, ...others] = tickets;
    if (!first) return;
    const next = others.reduce((a, b) => (b.execution < a.execution ? b : a), first);
    yield next;
    for (const [at, { done, value }] of heads.entries()) {
      if (!done && value.execution === next.execution) heads[at] = await (readers[at] as (typeof readers)[0]).next();
    }
  }
}
