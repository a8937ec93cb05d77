import { expect, it } from "vitest";
import { codesOf, type Loose, row, wait } from "../../definition.ts";

const event = { source: ["shop"], detail: { order: ["{{order.id}}"] } };
const total = (operation: object) => ({ event: { detail: { total: [operation] } } });

it.each<[Loose, string[]]>([
  [{ seconds: "15m" }, []],
  [{ until: "2026-01-31T09:00:00Z" }, []],
  [{ until: "2026-01-31T09:00+01:00" }, []],
  [{ until: "{{ order.due }}" }, []],
  [{ event, timeout: "1h", into: "news", onError: "end" }, []],
  [{ event, since: "start" }, []],
  [total({ numeric: [">", "{{least}}"] }), []],
  [total({ "anything-but": ["{{last}}"] }), ["NOVA425 $.nodes[1].event"]],
  [total({ "anything-but": { prefix: "{{last}}" } }), ["NOVA425 $.nodes[1].event"]],
  [{ event: { detail: { order: ["{{order}}"], total: [{ "anything-but": ["{{last}}"] }] } } }, []],
  [total({ wildcard: "{{customer}}-*" }), []],
  [{ event: { source: ["shop"], detail: { order: [{ prefix: "A" }] } } }, ["NOVA425 $.nodes[1].event"]],
  [{ event: { detail: { order: ["{{order + 1}}"] } } }, ["NOVA417 $.nodes[1].event"]],
  [{ event: { detail: { "{{order}}": ["{{order}}"] } } }, ['NOVA415 $.nodes[1].event.detail["{{order}}"]']],
  [{ event, since: "yesterday" }, ["NOVA413 $.nodes[1].since"]],
  [{ seconds: 1, since: "start" }, ["NOVA413 $.nodes[1].since"]],
  [total({ exists: "{{isThere}}" }), ["NOVA415 $.nodes[1].event.detail.total[0].exists"]],
  [{}, ["NOVA413 $.nodes[1]"]],
  [{ seconds: 1, until: "{{a}}", event }, ["NOVA413 $.nodes[1].until", "NOVA413 $.nodes[1].event"]],
  [{ seconds: 1, timeout: 3 }, ["NOVA413 $.nodes[1].timeout"]],
  [{ until: "{{a}}", into: "a" }, ["NOVA413 $.nodes[1].into"]],
  [{ seconds: 0 }, ["NOVA409 $.nodes[1].seconds"]],
  [{ seconds: true }, ["NOVA409 $.nodes[1].seconds"]],
  [{ until: "tomorrow" }, ["NOVA414 $.nodes[1].until"]],
  [{ until: "2026-02-30T09:00:00Z" }, ["NOVA414 $.nodes[1].until"]],
  [{ until: "2026-01-31T25:00:00Z" }, ["NOVA414 $.nodes[1].until"]],
  [{ until: "2026-01-31T09:00:00" }, ["NOVA414 $.nodes[1].until"]],
  [{ until: "{{a}} o'clock" }, ["NOVA414 $.nodes[1].until"]],
  [{ until: 3 }, ["NOVA414 $.nodes[1].until"]],
  [{ event: "paid" }, ["NOVA415 $.nodes[1].event"]],
  [{ event: { source: "shop" } }, ["NOVA415 $.nodes[1].event.source"]],
  [{ event: { detail: { n: [{ numeric: ["~", 1] }] } } }, ["NOVA415 $.nodes[1].event.detail.n[0].numeric"]],
  [{ event, into: "$news" }, ["NOVA418 $.nodes[1].into", "NOVA502 $.nodes[1].into"]],
])("a wait with %j has %j", (fields, expected) => {
  expect(codesOf(row(wait("pause", fields)))).toEqual(expected);
});
