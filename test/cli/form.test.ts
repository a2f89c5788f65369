import { expect, test } from "vitest";
import { HallError } from "../../src/base/errors.ts";
import { answerForm } from "../../src/cli/terminal.ts";

/** A person who types these lines and then nothing more. */
function person(...lines: string[]): {
  readonly ask: (question: string) => Promise<string>;
  readonly shown: string[];
  readonly show: (text: string) => void;
} {
  const shown: string[] = [];
  return {
    shown,
    show: (text) => void shown.push(text),
    ask: async (question) => {
      shown.push(question);
      const line = lines.shift();
      if (line === undefined) throw new HallError("CANCELLED", "nobody answered");
      return line;
    },
  };
}

const decision = {
  type: "string",
  title: "Decision",
  oneOf: [
    { const: "once", title: "Yes, this once" },
    { const: "no", title: "No" },
  ],
  default: "no",
};
const approval = {
  message: "Allow this call?",
  requestedSchema: { type: "object", properties: { decision } },
};

test("a choice is made by its number, by its value, or left at its default", async () => {
  for (const [line, value] of [
    ["1", "once"],
    ["once", "once"],
    ["", "no"],
  ] as const) {
    const { ask, show, shown } = person(line);
    expect(await answerForm(approval, ask, show)).toEqual({
      action: "accept",
      content: { decision: value },
    });
    expect(shown).toEqual([
      "Allow this call?",
      "  1. Yes, this once",
      "  2. No",
      "Decision [No]: ",
    ]);
  }
});

test("an invalid answer is asked for again, and the end of the input is no answer", async () => {
  const again = person("7", "perhaps", "2");
  expect(await answerForm(approval, again.ask, again.show)).toEqual({
    action: "accept",
    content: { decision: "no" },
  });
  const gone = person("9");
  expect(await answerForm(approval, gone.ask, gone.show)).toEqual({ action: "cancel" });
});

test("numbers, booleans and text are read as the schema requires", async () => {
  const properties = {
    age: { type: "integer" },
    share: { type: "number" },
    isSure: { type: "boolean" },
    name: { type: "string" },
  };
  const { ask, show } = person("1.5", "42", "x", "0.5", "y", "42");
  expect(await answerForm({ message: "m", requestedSchema: { properties } }, ask, show)).toEqual({
    action: "accept",
    content: { age: 42, share: 0.5, isSure: true, name: "42" },
  });
});

test("escape codes in questions are shown, not interpreted", async () => {
  const { ask, show, shown } = person("1");
  await answerForm(
    {
      message: "\u001b[2Jhidden",
      requestedSchema: { properties: { decision: { ...decision, title: "\u202eevil" } } },
    },
    ask,
    show,
  );
  for (const character of ["\u001b", "\u202e"]) expect(shown.join("")).not.toContain(character);
});

test("a field may have the name of something every object has", async () => {
  const { ask, show } = person("42");
  const properties = { constructor: { type: "integer" } };
  expect(await answerForm({ message: "m", requestedSchema: { properties } }, ask, show)).toEqual({
    action: "accept",
    content: { constructor: 42 },
  });
});
