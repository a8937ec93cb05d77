import { expect, it } from "vitest";
import { action, codesOf, each, type Loose, row } from "../../definition.ts";

it.each<[Loose, string[]]>([
  [{ items: "a.0.my list", as: "mail", into: "größe_2", max_concurrency: 1000, tolerated_failures: 3 }, []],
  [{ tolerated_failures: "100%" }, []],
  [{ items: undefined }, ["NOVA106 $.nodes[1]"]],
  [{ items: "a..b" }, ["NOVA418 $.nodes[1].items"]],
  [{ items: ["a"] }, ["NOVA418 $.nodes[1].items"]],
  [{ items: "list | sort" }, ["NOVA418 $.nodes[1].items"]],
  [{ as: "the item" }, ["NOVA418 $.nodes[1].as"]],
  [{ as: "index" }, ["NOVA502 $.nodes[1].as"]],
  [{ into: "" }, ["NOVA418 $.nodes[1].into"]],
  [{ into: "error" }, ["NOVA502 $.nodes[1].into"]],
  [{ max_concurrency: 0 }, ["NOVA104 $.nodes[1].max_concurrency"]],
  [{ max_concurrency: 1001 }, ["NOVA104 $.nodes[1].max_concurrency"]],
  [{ tolerated_failures: "101%" }, ["NOVA104 $.nodes[1].tolerated_failures"]],
  [{ tolerated_failures: -1 }, ["NOVA104 $.nodes[1].tolerated_failures"]],
  [{ nodes: undefined }, ["NOVA106 $.nodes[1]"]],
  [{ edges: "a > b" }, ["NOVA104 $.nodes[1].edges"]],
  [{ merge: "last" }, ["NOVA226 $.nodes[1].merge"]],
  [{ version: 2 }, ["NOVA420 $.nodes[1].version"]],
  [{ workflow: "billing" }, ["NOVA420 $.nodes[1].nodes", "NOVA420 $.nodes[1].edges"]],
])("a map with %j has %j", (fields, expected) => {
  expect(codesOf(row(each("m", [action("one")], [], fields)))).toEqual(expected);
});
