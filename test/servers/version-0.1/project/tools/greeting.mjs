export default {
  id: "greeting",
  list: async () => [{ name: "greet", description: "Greets.", inputSchema: { type: "object" } }],
  call: async () => ({ content: [{ type: "text", text: "hello" }] }),
};
