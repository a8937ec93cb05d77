import { action, decision, defineWorkflow, end, start } from "@nova/workflow";

export default defineWorkflow({
  id: "hello",
  name: "Hello",
  description: "Greets a name, loudly if it is a long one",
  inputs: {
    type: "object",
    properties: { name: { type: "string", description: "Whom to greet; the world by default" } },
  },
  nodes: {
    start: start(),
    greet: action({ description: "Make a greeting", codeFile: "nodes/greet.py" }),
    is_long: decision({ description: "Is the name longer than five letters?", codeFile: "nodes/is_long.py" }),
    shout: action({ description: "Say it loudly", codeFile: "nodes/shout.py" }),
    whisper: action({ description: "Say it softly", codeFile: "nodes/whisper.py" }),
    end: end(),
  },
  edges: [
    { from: "start", to: "greet" },
    { from: "greet", to: "is_long" },
    { from: "is_long", to: "shout", condition: true },
    { from: "is_long", to: "whisper", condition: false },
    { from: "shout", to: "end" },
    { from: "whisper", to: "end" },
  ],
});
