import { answerTask, delegateVote, type Person, type Ports, type WaitingTask, withdrawVote } from "@nova/engine";
import type { Random } from "./random.ts";
import type { World } from "./world.ts";

/** Returns a person with an API key, whom NOVA identifies by a mail address. */
export function personOf(name: string, more: Partial<Person> = {}): Person {
  const mail = `${name}@acme.com`;
  return { name: mail, ids: [mail], roles: ["runner"], groups: [], via: { kind: "key", key: `key_${name}` }, ...more };
}

const names = ["ann", "bob", "cid", "dan", "eve"];

/**
 * Adds processes that act as people: each answers one task that is open when the process acts. Some answers may come
 * too late. `rounds`: how often each person acts.
 */
export function sendApprovers(world: World, random: Random, rounds = 1): void {
  const open = () => world.tasks.all().filter(({ status }) => status === "open");
  for (const name of Array.from({ length: rounds }).flatMap(() => names)) {
    if (!random.chance(0.6)) continue;
    const act = () => {
      const task = random.pick(open());
      const work = task.approvers ? votingOn(task, name, random) : answering(task, name, random);
      // A client that got no answer sends its request again.
      const copies = task.approvers && random.chance(0.3) ? 2 : 1;
      for (let copy = 0; copy < copies; copy++) world.spawn(name, work, random.pick([1, 1, 0.1]));
    };
    const call = { name: "comes", ready: () => open().length > 0, effect: act };
    world.scheduler.spawn(name, (own) => own.call(call), random.pick([5, 1, 0.05]));
  }
}

/** Returns a person who answers with a mailed link. With the same `number`, the person uses the same link again. */
function linkOwner(name: string, { id }: WaitingTask, number: number): Person {
  return personOf(name, { roles: [], via: { kind: "mail", key: `link_${name}_${id}_${number}` } });
}

type Act = (ports: Ports) => Promise<unknown>;

function answering({ id, choices }: WaitingTask, name: string, random: Random): Act {
  const answer = { task: id, choice: random.pick(choices), by: name, from: "the model" };
  return (ports) => answerTask(ports, answer);
}

function votingOn(task: WaitingTask, name: string, random: Random): Act {
  const person = random.chance(0.5) ? personOf(name) : linkOwner(name, task, random.pick([0, 1]));
  const call = { person, from: "the model" };
  const to = `${random.pick(names)}@acme.com`;
  const deed = random.pick(["vote", "vote", "vote", "vote", "withdraw", "delegate"]);
  if (deed === "withdraw") return (ports) => withdrawVote(ports, { task: task.id }, call);
  if (deed === "delegate") return (ports) => delegateVote(ports, { task: task.id }, { ...call, to });
  const vote = { task: task.id, choice: random.pick(task.choices), by: name, ...call };
  return (ports) => answerTask(ports, vote);
}
