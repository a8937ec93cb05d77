import type { Room } from "../disk/room.ts";
import type { InvokeLambda } from "../lambda-types.ts";

/**
 * Has functions wait for room on the disk, and invokes one again that failed for lack of it: an execution stops where it
 * is, and no retry is spent. A function bears being invoked twice.
 */
export function whenThereIsRoom(invoke: InvokeLambda, room: Room): InvokeLambda {
  return async (...call) => {
    for (;;) {
      await room.untilThere();
      const result = await invoke(...call);
      if (result.ok || !room.isAwaited) return result;
    }
  };
}
