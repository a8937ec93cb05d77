import { emit as emitEvent, putEvent } from "@nova/service";
import { Unreadable } from "../http/errors.ts";
import { route } from "../http/route.ts";
import { EventRequest, TakenEvent, takenItem } from "../schemas/event.ts";

export const emit = route({
  method: "POST",
  path: "/events",
  summary: "Hand an event to the runs that wait for one like it, or put it on the bus; needs a key for all clients",
  role: "runner",
  body: EventRequest,
  exact: ["detail"],
  answers: { 200: { description: "what waited for it", schema: TakenEvent } },
  async handle(ports, { by, body: { source, type, detail, on_bus }, once }) {
    const event = { source, type, detail: detail?.text ?? "{}" };
    demandUnmarked(event.detail);
    const taken = await once(async () => {
      if (on_bus) return { event_id: await putEvent(ports, by, event), items: [] };
      const { id, tasks } = await emitEvent(ports, by, event);
      return { event_id: id, items: tasks.map(takenItem) };
    });
    return { status: 200, body: taken };
  },
});

/** NOVA's own events say by it where a detail is that the bus cannot carry. */
const mark = "nova_detail";

function demandUnmarked(detail: string): void {
  if (!Object.hasOwn(JSON.parse(detail), mark)) return;
  throw new Unreadable(400, `detail.${mark} is reserved for what NOVA says of a large detail - give it another name`);
}
