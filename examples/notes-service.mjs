// A service that joins a running hall and stays registered, however often hall or network go away.
//   guildhall serve                                   (in one terminal)
//   node examples/notes-service.mjs http://127.0.0.1:8080   (in another)
// Its tools then appear in every client of the hall as notes.add and notes.search.
import { register, tool, toolkit } from "guildhall";
import { z } from "zod";

const notes = [];

const add = tool(
  {
    name: "add",
    description: "Keeps a note.",
    input: z.object({ text: z.string().min(1).max(1000) }),
    destructive: false,
  },
  ({ text }) => ({
    id: notes.push(text),
    pid: process.pid,
  }),
);

const search = tool(
  {
    name: "search",
    description: "Finds notes that contain a word.",
    input: z.object({ word: z.string() }),
    readOnly: true,
    idempotent: true,
  },
  ({ word }) => ({ notes: notes.filter((text) => text.includes(word)) }),
);

const kit = toolkit({
  name: "notes",
  description: "Short notes, kept while the service runs",
  category: "NOTES",
  version: "1.0.0",
  tools: [add, search],
});
const joined = await register(kit, process.argv[2] ?? "http://127.0.0.1:8080", {
  warn: (message) => console.error(message),
});
console.log(`registered as ${joined.toolId}`);
