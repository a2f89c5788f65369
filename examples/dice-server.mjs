// An MCP server of its own, in one file. On stdio:     node examples/dice-server.mjs
// Over HTTP, which any MCP client can connect to:       node examples/dice-server.mjs 9000
import { randomInt } from "node:crypto";
import { serve, tool, toolkit } from "guildhall";

const roll = tool(
  {
    name: "roll",
    description: "Rolls dice and says what each shows, and the sum.",
    // A plain JSON Schema does as well as zod; defaults are filled in before the handler runs.
    input: {
      type: "object",
      properties: {
        count: { type: "integer", minimum: 1, maximum: 100, default: 1 },
        sides: { type: "integer", minimum: 2, maximum: 1000, default: 6 },
      },
    },
    readOnly: true,
  },
  ({ count, sides }) => {
    const rolls = Array.from({ length: count }, () => 1 + randomInt(sides));
    return { rolls, sum: rolls.reduce((sum, shown) => sum + shown, 0) };
  },
);

const dice = toolkit({
  name: "dice",
  description: "Dice of any number of sides",
  version: "1.0.0",
  tools: [roll],
});
const port = process.argv[2];
const serving = await serve(dice, port === undefined ? {} : { port: Number(port) });
if (serving.url) console.log(serving.url);
