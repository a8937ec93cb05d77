/** A workflow that waits for an answer, and needs no sandbox. */
export const asking = {
  id: "asking",
  nodes: [
    { id: "start", type: "start" },
    {
      id: "ask",
      type: "approval",
      message: "Go on?",
      form: { type: "object", properties: { reason: { type: "string" }, total: { type: "number" } } },
    },
    { id: "end", type: "end" },
  ],
  edges: [
    { from: "start", to: "ask" },
    { from: "ask", to: "end", condition: "approved" },
    { from: "ask", to: "end", condition: "rejected" },
  ],
};

/** A workflow that asks for each line. The approval is the first node of an item's branch. */
export const askingForEach = {
  id: "asking-for-each",
  nodes: [
    { id: "start", type: "start" },
    {
      id: "each",
      type: "map",
      items: "lines",
      as: "line",
      nodes: [
        { id: "ask", type: "approval", message: "Pay line {{index}}, {{line.price}}?" },
        { id: "pay", type: "action", code: "pass" },
      ],
      edges: ["approved", "rejected"].map((condition) => ({ from: "ask", to: "pay", condition })),
    },
    { id: "end", type: "end" },
  ],
  edges: [
    { from: "start", to: "each" },
    { from: "each", to: "end" },
  ],
};
