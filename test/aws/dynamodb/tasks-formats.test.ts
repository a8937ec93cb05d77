import { PutCommand, ScanCommand } from "@aws-sdk/lib-dynamodb";
import type { SealedToken, WaitingTask } from "@nova/engine";
import { describe, expect, test } from "vitest";
import { createTaskStore } from "../../../packages/aws/src/dynamodb/tasks.ts";
import frozen from "../../fixtures/formats/tasks-1.json" with { type: "json" };
import { useTable } from "../support/endpoints.ts";

/** Tasks and a token with their stored items. Never regenerate this file. */
const { values, items } = frozen as unknown as {
  values: { tasks: [WaitingTask, WaitingTask]; token: SealedToken };
  items: { pk: string; sk: string }[];
};
const [asked, sent] = values.tasks;

describe("tasks of format 1", () => {
  const table = useTable();

  test("can be read", async () => {
    for (const Item of items) await table.client.send(new PutCommand({ TableName: table.table, Item }));
    const tasks = createTaskStore(table);
    expect(await tasks.ofExecution(asked.execution)).toEqual(values.tasks);
    expect(await tasks.find(sent.id)).toEqual(sent);
    expect(await Array.fromAsync(tasks.pending())).toEqual([asked]);
    expect(await tasks.tokens(asked)).toEqual([values.token]);
  });

  test("are refused in another format, with a way out", async () => {
    for (const item of items)
      await table.client.send(new PutCommand({ TableName: table.table, Item: { ...item, format: 2 } }));
    await expect(createTaskStore(table).get(asked)).rejects.toThrow(/stored in format 2.*update NOVA/);
    await expect(createTaskStore(table).tokens(asked)).rejects.toThrow(/stored in format 2.*update NOVA/);
  });
});

describe("new tasks", () => {
  const table = useTable();

  test("are stored in format 1", async () => {
    const tasks = createTaskStore(table);
    for (const task of values.tasks) await tasks.create(task);
    await tasks.putToken(asked, values.token);
    const { Items = [] } = await table.client.send(new ScanCommand({ TableName: table.table }));
    expect(Items.sort((a, b) => (`${a.pk}${a.sk}` < `${b.pk}${b.sk}` ? -1 : 1))).toEqual(items);
  });
});
