/** Apart, because every function calls out and few need the rest of the service. */
export { createOutgoing, type Outgoing, type OutgoingOptions } from "./outgoing.ts";
