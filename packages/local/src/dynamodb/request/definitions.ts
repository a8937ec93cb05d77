import { invalid, invalidParameter } from "../errors.ts";
import type { IndexDescription, KeySchemaElement, TableDescription } from "../store/tables.ts";
import { indexNameLimits, refuseUnserved } from "./common.ts";
import type { Input } from "./input.ts";

export type AttributeDefinitions = TableDescription["AttributeDefinitions"];

/** An index as a request defines it. */
export type IndexDefinition = Pick<IndexDescription, "IndexName" | "KeySchema" | "Projection">;

const attributeTypes = ["B", "N", "S"] as const;
const keyTypes = ["HASH", "RANGE"] as const;

export function readAttributeDefinitions(input: Input): AttributeDefinitions {
  const definitions = input.neededStructures("AttributeDefinitions").map((definition) => ({
    AttributeName: definition.text("AttributeName", { least: 1, most: 255 }),
    AttributeType: needed(definition.choice("AttributeType", attributeTypes), definition, "AttributeType"),
  }));
  const names = definitions.map(({ AttributeName }) => AttributeName);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice === undefined) return definitions;
  throw invalidParameter(`Cannot add, delete, or update an attribute twice in AttributeDefinitions: ${twice}`);
}

export function readKeySchema(input: Input, definitions: AttributeDefinitions): KeySchemaElement[] {
  const schema = input.neededStructures("KeySchema", { least: 1, most: 2 }).map((element) => ({
    AttributeName: element.text("AttributeName", { least: 1, most: 255 }),
    KeyType: needed(element.choice("KeyType", keyTypes), element, "KeyType"),
  }));
  const [hash, sort] = schema as [KeySchemaElement, KeySchemaElement?];
  const known = definitions.map(({ AttributeName }) => AttributeName);
  const keys = schema.map(({ AttributeName }) => AttributeName);
  if (!keys.every((key) => known.includes(key))) {
    const lists = `Keys: [${keys.join(", ")}], AttributeDefinitions: [${known.join(", ")}]`;
    throw invalidParameter(`Some index key attributes are not defined in AttributeDefinitions. ${lists}`);
  }
  if (hash.AttributeName === sort?.AttributeName) {
    throw invalid("Both the Hash Key and the Range Key element in the KeySchema have the same name");
  }
  if (hash.KeyType !== "HASH") throw invalid("Invalid KeySchema: The first KeySchemaElement is not a HASH key type");
  if (sort && sort.KeyType !== "RANGE") {
    throw invalid("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type");
  }
  return schema;
}

export function readIndex(input: Input, definitions: AttributeDefinitions): IndexDefinition {
  refuseUnserved(input);
  const IndexName = input.text("IndexName", indexNameLimits);
  const KeySchema = readKeySchema(input, definitions);
  const projection = input.neededStructure("Projection");
  if (projection.choice("ProjectionType", ["ALL", "INCLUDE", "KEYS_ONLY"]) === "ALL") {
    return { IndexName, KeySchema, Projection: { ProjectionType: "ALL" } };
  }
  throw invalid("An index of the local DynamoDB projects everything - use the ProjectionType ALL");
}

/** Throws the sentence of a field that is missing. */
function needed<T>(value: T | undefined, input: Input, name: string): T {
  if (value === undefined) throw input.missing(name);
  return value;
}
