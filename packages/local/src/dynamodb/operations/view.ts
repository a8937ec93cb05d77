import { invalid } from "../errors.ts";
import type { Condition, Path } from "../expressions/syntax.ts";
import { indexNameLimits, tableName } from "../request/common.ts";
import { type ExpressionField, type Expressions, readExpressions } from "../request/expressions.ts";
import type { Input } from "../request/input.ts";
import type { Store } from "../store/store.ts";
import type { Index, Table } from "../store/table.ts";
import type { AttributeMap } from "../values/attribute-value.ts";
import { checkKeyPaths } from "./check-paths.ts";

const selections = ["ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES", "SPECIFIC_ATTRIBUTES", "COUNT"] as const;

/** What a query or a scan shows of the rows that it reads. */
export interface View {
  table: Table;
  index: Index | undefined;
  onlyCounts: boolean;
  limit: number | undefined;
  startKey: AttributeMap | undefined;
  filter: Condition | undefined;
  paths: Path[] | undefined;
}

export function readView(store: Store, input: Input, fields: readonly ExpressionField[]): [View, Expressions] {
  const name = tableName(input);
  const indexName = input.optionalText("IndexName", indexNameLimits);
  const isConsistent = input.flag("ConsistentRead") ?? false;
  const limit = input.integer("Limit", { least: 1 });
  const select = input.choice("Select", selections);
  const startKey = input.optionalAttributes("ExclusiveStartKey")?.attributes;
  const expressions = readExpressions(input, fields);
  const { FilterExpression: filter, ProjectionExpression: paths } = expressions;
  checkSelect(select, paths, indexName);
  const table = store.tables.get(name);
  const index = indexName === undefined ? undefined : indexOf(table, indexName, isConsistent);
  checkKeyPaths(table, filter, paths);
  const onlyCounts = select === "COUNT";
  return [{ limit, table, index, onlyCounts, startKey, filter, paths }, expressions];
}

type Select = (typeof selections)[number] | undefined;

function checkSelect(select: Select, paths: Path[] | undefined, indexName: string | undefined): void {
  if (paths && select !== undefined && select !== "SPECIFIC_ATTRIBUTES") {
    const what = select === "COUNT" ? "only the Count" : select;
    throw invalid(`Cannot specify the ProjectionExpression when choosing to get ${what}`);
  }
  if (!paths && select === "SPECIFIC_ATTRIBUTES") {
    throw invalid("Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES");
  }
  if (select !== "ALL_PROJECTED_ATTRIBUTES" || indexName !== undefined) return;
  throw invalid("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName");
}

function indexOf(table: Table, name: string, isConsistent: boolean): Index {
  const index = table.indexes.find((one) => one.name === name);
  if (!index) throw invalid(`The table does not have the specified index: ${name}`);
  if (!isConsistent) return index;
  throw invalid("Consistent reads are not supported on global secondary indexes");
}
