import { sweep } from "@nova/engine";
import { lambda } from "./lambda.ts";

/** On a schedule: closes what died, repeats a start that was lost. */
export const handler = lambda((ports, _event: unknown) => sweep(ports));
