import { describe, expect, it } from "vitest";
import { NetworkAllow, workflowModel } from "../../../packages/workflow/src/authored/ai.ts";
import { duration } from "../../../packages/workflow/src/authored/fields.ts";

it.each([
  ["gpt-5.1", { default: "gpt-5.1" }],
  [{ code_generator: "a" }, { code_generator: "a" }],
  [
    { input_analyzer: "a", data_analyzer: "b", output_validator: undefined },
    { input_analyzer: "a", data_analyzer: "b" },
  ],
])(
  "the field `model` written as %j is parsed into an object that gives the id of a model for each role",
  (written, choice) => {
    expect(workflowModel.parse(written)).toStrictEqual(choice);
  },
);

it.each([[""], [{}], [3], [null], [{ default: "a" }], [{ code_generator: 1 }]])(
  "the field `model` causes a finding if it is written as %j",
  (written) => {
    expect(workflowModel.safeParse(written).success).toBe(false);
  },
);

describe("the field `network.allow`", () => {
  it.each([
    ["imap.example.com", "imap.example.com"],
    ["IMAP.Example.com:993", "imap.example.com:993"],
    [" localhost:1 ", "localhost:1"],
    ["my_db:65535", "my_db:65535"],
    ["10.0.0.7", "10.0.0.7"],
    ["223.1.2.3:1", "223.1.2.3:1"],
    ["[::1]:5432", "[::1]:5432"],
    ["127.0.0.1:1025", "127.0.0.1:1025"],
    ["[::1]", "[::1]"],
    ["[2001:DB8::7]:5432", "[2001:db8::7]:5432"],
    ["1.example", "1.example"],
    [`${"a".repeat(63)}.com`, `${"a".repeat(63)}.com`],
  ])("accepts the host %j", (written, host) => {
    expect(NetworkAllow.parse([written])).toEqual([host]);
  });

  it.each([
    ["", 'must be "host" or "host:port"'],
    [3, 'must be "host" or "host:port"'],
    ["a b", 'must be "host" or "host:port"'],
    ["-a.com", 'must be "host" or "host:port"'],
    ["a..com", 'must be "host" or "host:port"'],
    ["a.com.", 'must be "host" or "host:port"'],
    ["bücher.example", 'must be "host" or "host:port"'],
    ["999.1.1.1", 'must be "host" or "host:port"'],
    ["1.2.3", 'must be "host" or "host:port"'],
    [`${"a".repeat(64)}.com`, 'must be "host" or "host:port"'],
    ["[1.2.3.4]", 'must be "host" or "host:port"'],
    ["[fe80::1%eth0]:80", 'must be "host" or "host:port"'],
    ["0.0.0.0:80", 'must be "host" or "host:port"'],
    ["224.0.0.1", 'must be "host" or "host:port"'],
    ["255.255.255.255", 'must be "host" or "host:port"'],
    ["[::]:80", 'must be "host" or "host:port"'],
    ["[ff02::1]", 'must be "host" or "host:port"'],
    ["[::ffff:10.0.0.7]:80", 'must be "host" or "host:port"'],
    ["https://a.com", "without a scheme"],
    ["*.example.com", "a wildcard cannot be enforced"],
    ["*", "a wildcard cannot be enforced"],
    ["10.0.0.0/7", "without a path"],
    ["127.0.0.1/33", "without a path"],
    ["10.0.0.0/8]", "must name one host each"],
    ["224.0.0.0/8", "without a path"],
    ["a.com/path", "without a path"],
    ["::1", 'in brackets: "[::1]:443"'],
    ["a.com:", "a port from 1 to 65535"],
    ["a.com:0", "a port from 1 to 65535"],
    ["a.com:65536", "a port from 1 to 65535"],
    ["[::1]:http", "a port from 1 to 65535"],
  ])("refuses the host %j with a reason", (written, reason) => {
    const { error } = NetworkAllow.safeParse([written]);
    expect(error?.issues).toMatchObject([{ path: [0], message: expect.stringContaining(reason) }]);
  });

  it("accepts at most 50 hosts", () => {
    const hosts = Array.from({ length: 51 }, (_, index) => `h${index}.example`);
    expect(NetworkAllow.safeParse(hosts.slice(1)).success).toBe(true);
    expect(NetworkAllow.safeParse(hosts).error?.issues).toMatchObject([{ message: "must have at most 50 entries" }]);
  });
});

const schema = duration("how long");

it.each([
  [1, 1],
  ["90s", 90],
  ["15m", 900],
  ["12h", 43_200],
  ["365d", 31_536_000],
  [31_536_000, 31_536_000],
])("a duration written as %j is %j seconds", (written, seconds) => {
  expect(schema.parse(written)).toBe(seconds);
});

it.each([0, -1, 1.5, 31_536_001, "366d", "99999999d", "0s", "1.5h", "15 m", "15M", "15", "1h30m", "", null, true])(
  "a duration written as %j is refused",
  (written) => {
    const { error } = schema.safeParse(written);
    expect(error?.issues.map(({ message }) => message)).toEqual([
      "must be whole seconds or a text such as 90s, 15m, 12h, 3d, at most a year",
    ]);
  },
);
