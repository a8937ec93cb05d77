import { emit as emitEvent } from "@nova/service";
import { route } from "../http/route.ts";
import { EventRequest, TakenEvent, takenItem } from "../schemas/event.ts";

export const emit = route({
  method: "POST",
  path: "/events",
  summary: "Hand an event to the runs that wait for one like it; needs a key for all clients",
  role: "runner",
  body: EventRequest,
  exact: ["detail"],
  answers: { 200: { description: "what waited for it", schema: TakenEvent } },
  async handle(ports, { by, body: { source, type, detail }, once }) {
    const taken = await once(async () => {
      const { id, tasks } = await emitEvent(ports, by, { source, type, detail: detail?.text ?? "{}" });
      return { event_id: id, items: tasks.map(takenItem) };
    });
    return { status: 200, body: taken };
  },
});
