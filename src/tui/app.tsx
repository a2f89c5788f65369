import { Box } from "ink";
import type { ReactElement } from "react";
import { Footer, Header } from "./parts/frame.tsx";
import { Help } from "./parts/help.tsx";
import { type Line, Lines } from "./parts/line.tsx";
import { Question } from "./parts/question.tsx";
import { wrap } from "./parts/width.ts";
import { bindingsOf, layerOf, ownBindings } from "./press.ts";
import { type BodyProps, bodyRows } from "./screens/screen.ts";
import { screens } from "./screens/screens.ts";
import type { Moment } from "./view.ts";

const columnsMin = 40;
const rowsMin = 12;

/** The whole terminal at one moment. */
export function App(moment: Moment): ReactElement {
  const { columns, rows } = moment.state.size;
  if (columns < columnsMin || rows < rowsMin) {
    return (
      <Lines
        lines={[
          [{ text: `At least ${columnsMin}x${rowsMin}, please: this is ${columns}x${rows}.` }],
        ]}
        columns={columns}
        rows={rows}
      />
    );
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
      return (
        <Lines
          lines={wrap(state.confirmation?.message ?? "", columns).map(
            (text): Line => [{ text, role: "warning" }],
          )}
          columns={columns}
          rows={rows}
        />
      );
    case "question":
      return <Question {...props} />;
    case "help": {
      const screen = { ...props, state: { ...state, isHelpShown: false } };
      const own = ownBindings(screen);
      return (
        <Help
          title={screens[state.screen].title}
          groups={[own, bindingsOf(screen).slice(own.length)]}
          columns={columns}
          rows={rows}
        />
      );
    }
    case "screen": {
      const { Body } = screens[state.screen];
      return <Body {...props} />;
    }
  }
}
