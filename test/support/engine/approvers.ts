import { answerTask } from "@nova/engine";
import type { Random } from "./random.ts";
import type { World } from "./world.ts";

/**
 * Adds processes that act as people: each answers one task that is open when the process acts. Some answers may come
 * too late.
 */
export function sendApprovers(world: World, random: Random): void {
  const open = () => world.tasks.all().filter(({ status }) => status === "open");
  for (const name of ["ann", "bob", "cid", "dan", "eve"]) {
    if (!random.chance(0.6)) continue;
    const act = () => {
      const { id, choices } = random.pick(open());
      const answer = { task: id, choice: random.pick(choices), by: name, from: "the model" };
      world.spawn(name, (ports) => answerTask(ports, answer), random.pick([1, 1, 0.1]));
    };
    const call = { name: "comes", ready: () => open().length > 0, effect: act };
    world.scheduler.spawn(name, (own) => own.call(call), random.pick([5, 1, 0.05]));
  }
}
