import type { Aftermath } from "../ports/aftermath.ts";

/** For runs that no service looks after. */
export const noAftermath: Aftermath = { ended: async () => undefined };
