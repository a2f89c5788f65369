/** The tool that the hall and the SDK serve, with a schema as tools in the wild have them. */
export const echoTool = {
  name: "echo",
  description: "Says a message back.",
  inputSchema: {
    type: "object",
    properties: {
      message: {
        type: "string",
        minLength: 1,
        maxLength: 10_000,
        description: "What to say back.",
      },
      count: { type: "integer", minimum: 1, maximum: 100, default: 1 },
      options: {
        type: "object",
        properties: {
          style: { type: "string", enum: ["plain", "loud", "quiet"] },
          tags: { type: "array", items: { type: "string" }, maxItems: 20 },
        },
        additionalProperties: false,
      },
    },
    required: ["message"],
    additionalProperties: false,
  },
};

export const echo = ({ message }) => ({ content: [{ type: "text", text: message }] });

/** Arguments of about 150 bytes. `count` is left out, so that a default has to be filled in. */
export const echoArguments = (number) => ({
  message: `call ${number}: the quick brown fox jumps over the lazy dog, 12 times`,
  options: { style: "plain", tags: ["bench", "stdio"] },
});

/** A toolkit of echo tools: `echo` first, then as many more as a hall with a long list has. */
export const createEchoToolkit = ({ id = "echo", tools = [echoTool], run = echo } = {}) => ({
  id,
  prefix: "",
  list: async () => tools,
  call: async (_tool, args, context) => run(args, context),
  health: async () => ({ state: "available" }),
  close: async () => {},
});

export const createEchoTools = (count) =>
  Array.from({ length: count }, (_, i) => ({ ...echoTool, name: i === 0 ? "echo" : `echo_${i}` }));
