import type { FindingKind } from "./kind.ts";

/** NOVA423 and 424: what code may use and reach. */
export const accessFindings = {
  NOVA423: {
    severity: "error",
    title: "`credentials` is no list of names",
    why: "Credentials are stored under names; a definition never holds one. Names are lower case, because they begin the keys under which code finds a second credential of a kind.",
    bad: '{ "id": "read", "type": "action", "code": "...", "credentials": ["E-mail"] }',
    good: '{ "id": "read", "type": "action", "code": "...", "credentials": ["email"] }',
  },
  NOVA424: {
    severity: "warning",
    title: "A port that E2B does not hold",
    why: "E2B knows names for ports 80 and 443 only, and no ports for addresses. A host on another port is resolved before each run of the node, which the chain of work records (`resolved_hosts`); that host and its port are held by NOVA's own wall inside of the sandbox, and by nothing outside of it. With addresses and ranges, and names on ports 80 and 443, E2B's own rules hold what the nodes of a sandbox may reach together, though with every port of an address. `localhost` and addresses are looked up nowhere, so of their ports there is nothing to warn of, and nothing recorded.",
    bad: '{ "id": "read", "type": "action", "code": "...", "network": { "allow": ["db.example.com:5432"] } }',
    good: '{ "id": "read", "type": "action", "code": "...", "network": { "allow": ["10.0.0.7:5432"] } }',
  },
} as const satisfies Record<string, FindingKind>;
