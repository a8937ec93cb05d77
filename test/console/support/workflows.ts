import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

type Condition = string | boolean;

const action = (id: string, code: string, more: object = {}) => ({ id, type: "action", code, ...more });
const decision = (id: string, code: string) => ({ id, type: "decision", code });
const edge = (from: string, to: string, condition?: Condition, more: object = {}) => {
  return { from, to, ...(condition !== undefined && { condition }), ...more };
};
const start = { id: "start", type: "start" };
const end = { id: "end", type: "end" };

/**
 * A workflow with parallel branches, a decision, numbers whose digits JavaScript would change, and a failure in line 4
 * for values above 9000.
 */
const orders = {
  name: "Orders",
  nodes: [
    start,
    action("read", "print('reading', context['total'])\ncontext['lines'] = [850.0, 12345678901234567890]"),
    action("check_sender", "context['sender'] = 'known'"),
    action("check_amount", "context['amount'] = 'fine'"),
    decision("is_large", "context['branch_decision'] = context['total'] > 1000"),
    action("tell", "context['told'] = True"),
    action(
      "book",
      "rates = {'EUR': 1}\nif context['total'] > 9000:\n    print('no rate')\n    rate = rates['USD']\ncontext['booked'] = True",
    ),
    end,
  ],
  edges: [
    edge("start", "read"),
    ...["check_sender", "check_amount"].flatMap((check) => [edge("read", check), edge(check, "is_large")]),
    ...[edge("is_large", "tell", true), edge("is_large", "book", false), edge("tell", "book"), edge("book", "end")],
  ],
};

/** A workflow with a map in which every seventh item fails. */
const prices = {
  name: "Prices",
  nodes: [
    start,
    action("load", "context['list'] = list(range(context.get('n', 14)))"),
    {
      id: "each",
      type: "map",
      items: "list",
      max_concurrency: 4,
      tolerated_failures: "100%",
      nodes: [action("price", "if context['index'] % 7 == 3:\n    raise ValueError('no price')\ncontext['price'] = 1")],
      edges: [],
    },
    end,
  ],
  edges: [edge("start", "load"), edge("load", "each"), edge("each", "end")],
};

/** A workflow with a loop of three rounds. */
const polls = {
  name: "Polls",
  nodes: [
    start,
    action("ask", "context['tries'] = context.get('tries', 0) + 1"),
    decision("ready", "context['branch_decision'] = 'done' if context['tries'] > 2 else 'again'"),
    end,
  ],
  edges: [
    edge("start", "ask"),
    edge("ask", "ready"),
    edge("ready", "ask", "again", { max: 5 }),
    edge("ready", "end", "done"),
    edge("ready", "end", "default"),
  ],
};

/** A workflow whose first node sleeps for `seconds`, or for one minute if the context has no `seconds`. */
const slow = {
  name: "Slow",
  nodes: [
    start,
    action("work", "import time\nprint('at it', flush=True)\ntime.sleep(context.get('seconds', 60))", { timeout: 900 }),
    action("rest", "pass"),
    end,
  ],
  edges: [edge("start", "work"), edge("work", "rest"), edge("rest", "end")],
};

const nightly = {
  name: "Nightly",
  nodes: [
    start,
    action("collect", "context['total'] = 250"),
    { id: "orders", type: "workflow", workflow: "orders" },
    end,
  ],
  edges: [edge("start", "collect"), edge("collect", "orders"), edge("orders", "end")],
};

const waits = {
  name: "Waits",
  nodes: [
    start,
    { id: "manager", type: "approval", message: "Pay {{amount}}?", choices: ["approved", "rejected"], timeout: "3d" },
    end,
  ],
  edges: [
    edge("start", "manager"),
    ...["approved", "rejected", "timeout"].map((choice) => edge("manager", "end", choice)),
  ],
};

/**
 * `nova dev` publishes the workflows in alphabetical order. So all workflows are published when it reports the workflow
 * `waits`.
 */
const workflows: Record<string, object> = { nightly, orders, polls, prices, slow, waits };

export async function writeWorkflows(folder: string): Promise<void> {
  for (const [id, workflow] of Object.entries(workflows)) {
    await mkdir(join(folder, id), { recursive: true });
    await writeFile(join(folder, id, "workflow.json"), JSON.stringify({ id, ...workflow }));
  }
}
