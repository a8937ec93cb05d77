import { expect, it } from "vitest";
import { unreachableIn } from "../../../packages/agents/src/failures/unreachable.ts";

const refused = "imap.example.com:993 cannot be reached: Connection refused";

it.each([
  [`hello\n[network] ${refused}\n`, refused],
  [`[network] a.example:80 cannot be reached: Name or service not known\n[network] ${refused}`, refused],
  [`the code says: [network] ${refused}`, ""],
  ["[network] something else\n", ""],
  ["", ""],
])("of the log %j is %j", (logs, reason) => {
  expect(unreachableIn(logs)).toBe(reason);
});
