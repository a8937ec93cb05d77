import { type AttributeValue, DynamoDBClient, PutItemCommand, paginateScan } from "@aws-sdk/client-dynamodb";

export type Item = Record<string, AttributeValue>;

/** The table as an attacker with full access uses it. It writes any item, without the conditions that NOVA sets. */
export class RawTable {
  readonly #client = new DynamoDBClient();
  readonly #name = process.env.NOVA_TABLE ?? "nova";

  /** Returns every item of these executions: of chains, branches, steps and records. */
  async itemsOf(...executions: string[]): Promise<Item[]> {
    const found: Item[] = [];
    for await (const { Items = [] } of paginateScan({ client: this.#client }, { TableName: this.#name }))
      found.push(...Items.filter(({ pk }) => executions.some((id) => isOf(pk?.S ?? "", id))));
    return found;
  }

  async put(items: readonly Item[]): Promise<void> {
    for (const Item of items) await this.#client.send(new PutItemCommand({ TableName: this.#name, Item }));
  }
}

function isOf(partition: string, execution: string): boolean {
  return new RegExp(`^[CE]#${execution}(/|$)`).test(partition);
}

export function nameOf({ pk, sk }: Item): string {
  return `${pk?.S} ${sk?.S}`;
}
