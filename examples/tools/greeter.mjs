// A toolkit in a module: a hall loads it with `"toolkits": ["./examples/tools/*.mjs"]` in its config, and
// `guildhall register examples/tools/greeter.mjs` serves it to a hall that already runs.
import { tool, toolkit } from "guildhall";
import { z } from "zod";

const greet = tool(
  {
    name: "greet",
    description: "Greets somebody by name, in one of three languages.",
    input: z.object({
      name: z.string().min(1),
      language: z.enum(["en", "de", "fr"]).default("en"),
    }),
    output: {
      type: "object",
      properties: { greeting: { type: "string" } },
      required: ["greeting"],
    },
    readOnly: true,
    idempotent: true,
  },
  ({ name, language }) => ({
    greeting: `${{ en: "Hello", de: "Guten Tag", fr: "Bonjour" }[language]}, ${name}!`,
  }),
);

export default toolkit({
  name: "greeter",
  description: "Polite openings",
  category: "TEXT",
  version: "1.0.0",
  tools: [greet],
});
