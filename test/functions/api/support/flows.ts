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
