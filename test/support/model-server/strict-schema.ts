type Schema = Record<string, unknown>;

/** Keywords that a strict schema may not contain anywhere, according to OpenAI's structured outputs. */
const refused = [
  "allOf",
  "default",
  "dependentRequired",
  "dependentSchemas",
  "else",
  "if",
  "not",
  "oneOf",
  "patternProperties",
  "propertyNames",
  "then",
  "unevaluatedProperties",
  "uniqueItems",
];

const deepest = 10;

/**
 * Returns the reasons for which OpenAI refuses a schema with `strict: true`. In a valid schema the root is an object,
 * every object is closed, every property is required, and there are at most ten levels.
 * https://developers.openai.com/api/docs/guides/structured-outputs
 */
export function strictSchemaProblems(schema: unknown): string[] {
  const root = isSchema(schema) && schema.type === "object" && !("anyOf" in schema);
  return root ? problemsAt(schema, "", 1) : ['schema must be an object of type "object"'];
}

function problemsAt(schema: Schema, path: string, depth: number): string[] {
  const here = [
    ...refused.filter((keyword) => keyword in schema).map((keyword) => `'${keyword}' is not permitted`),
    ...(schema.type === "object" ? objectProblems(schema) : []),
    ...(depth > deepest ? [`it is deeper than ${deepest} levels`] : []),
  ].map((problem) => `In context=(${path || "root"}), ${problem}.`);
  return [...here, ...children(schema).flatMap(([name, child]) => problemsAt(child, `${path}/${name}`, depth + 1))];
}

function objectProblems(schema: Schema): string[] {
  const properties = Object.keys(isSchema(schema.properties) ? schema.properties : {});
  const required = Array.isArray(schema.required) ? schema.required : [];
  const optional = properties.filter((name) => !required.includes(name));
  return [
    ...(schema.additionalProperties === false
      ? []
      : ["'additionalProperties' is required to be supplied and to be false"]),
    ...optional.map(
      (name) => `'required' is required to be an array including every key in properties. Missing '${name}'`,
    ),
  ];
}

function children(schema: Schema): [string, Schema][] {
  const named = ["properties", "$defs", "definitions"].flatMap((keyword) => {
    const group = schema[keyword];
    return isSchema(group) ? Object.entries(group) : [];
  });
  const items: [string, unknown][] = [["items", schema.items]];
  const branches: [string, unknown][] = Array.isArray(schema.anyOf)
    ? schema.anyOf.map((branch, index) => [`anyOf/${index}`, branch])
    : [];
  return [...named, ...items, ...branches].filter((child): child is [string, Schema] => isSchema(child[1]));
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
