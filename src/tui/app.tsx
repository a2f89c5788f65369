import { Box } from "ink";
import type { ReactElement } from "react";
import { formLines } from "./parts/form.ts";
import { Footer, Header } from "./parts/frame.tsx";
import { Help } from "./parts/help.tsx";
import { type Line, Lines } from "./parts/line.tsx";
import { wrap } from "./parts/width.ts";
import { bindingsOf, handOf, layerOf, ownBindings } from "./press.ts";
import { type BodyProps, bodyRows } from "./screens/screen.ts";
import { screens } from "./screens/screens.ts";
import type { Moment } from "./view.ts";

const columnsMin = 40;
const rowsMin = 12;

/** The whole terminal at one moment. */
export function App(moment: Moment): ReactElement {
  const { columns, rows } = moment.state.size;
  if (columns < columnsMin || rows < rowsMin) {
    return <Lines lines={[[{ text: `At least ${columnsMin}x${rowsMin}, please: this is ${columns}x${rows}.` }]]} columns={columns} rows={rows} />;
  }
  const body = { ...moment, columns, rows: bodyRows(moment.state) };
  return (
    <Box flexDirection="column" width={columns} height={rows}>
      <Header {...moment} columns={columns} />
      <Box flexDirection="column" width={columns} height={body.rows} overflow="hidden">
        <Layered {...body} />
      </Box>
      <Footer {...moment} columns={columns} />
    </Box>
  );
}

function Layered(props: BodyProps): ReactElement {
  const { state, columns, rows } = props;
  switch (layerOf(props)) {
    case "confirmation":
      return <Lines lines={wrap(state.confirmation?.message ?? "", columns).map((text): Line => [{ text, role: "warning" }])} columns={columns} rows={rows} />;
    case "question":
      return <Question {...props} />;
    case "help": {
      const screen = { ...props, state: { ...state, isHelpShown: false } };
      const own = ownBindings(screen);
      return <Help title={screens[state.screen].title} groups={[own, bindingsOf(screen).slice(own.length)]} columns={columns} rows={rows} />;
    }
    case "screen": {
      const { Body } = screens[state.screen];
      return <Body {...props} />;
    }
  }
}

/** What a server wants to know, as a form. */
function Question({ state, view, columns, rows }: BodyProps): ReactElement {
  const [question] = state.questions;
  if (!question) return <Lines lines={[]} columns={columns} rows={rows} />;
  const run = state.runs.find(({ id }) => id === question.run);
  const head: readonly Line[] = [
    [{ text: `${run?.tool ?? "The server"} asks`, role: "title" }],
    ...wrap(question.message, columns)
      .slice(0, Math.floor(rows / 2))
      .map((text): Line => [{ text }]),
    [],
  ];
  const hand = handOf(question);
  const form = hand.form.fields.length === 0 ? [] : formLines(hand, { view, columns, rows: rows - head.length });
  return <Lines lines={[...head, ...form]} columns={columns} rows={rows} />;
}
