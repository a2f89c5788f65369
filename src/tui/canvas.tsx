import { Writable } from "node:stream";
import chalk from "chalk";
import { render } from "ink";
import { App } from "./app.tsx";
import { createEasel } from "./parts/easel.ts";
import { createTheme, ThemeContext } from "./parts/line.tsx";
import type { Moment } from "./view.ts";

/**
 * Ink lays out and React remembers; neither touches the terminal. Ink's own way of writing clears everything when a frame fills the
 * screen, shows nothing where it takes the machine for a CI, and lays hands on console, signals and cursor. Its chalk would look at the
 * process's stdout and for a CI too, and leave out even what is selected; the theme alone says what is painted.
 */
export interface Canvas {
  /** The frame at that moment: as many lines as the terminal has rows. */
  draw(moment: Moment): string;
  close(): void;
}

export interface CanvasOptions {
  readonly hasColours: boolean;
  /** The bits of a colour, as far as pictures go; fewer than eight show none. Default 24. */
  readonly colourDepth?: number;
  /** A screen threw. */
  failed(error: unknown): void;
}

export function createCanvas({ hasColours, colourDepth = 24, failed }: CanvasOptions): Canvas {
  const easel =
    hasColours && colourDepth >= 8 ? createEasel(colourDepth >= 24 ? 24 : 8) : undefined;
  const theme = createTheme({ hasColours, easel });
  chalk.level = 1;
  const paper = new Paper();
  let instance: ReturnType<typeof render> | undefined;
  return {
    draw(moment) {
      const tree = (
        <ThemeContext.Provider value={theme}>
          <App {...moment} />
        </ThemeContext.Provider>
      );
      paper.resize(moment.state.size.columns, moment.state.size.rows);
      if (instance) instance.rerender(tree);
      else {
        const stdout = paper as unknown as NodeJS.WriteStream;
        instance = render(tree, {
          stdout,
          stderr: stdout,
          debug: true,
          patchConsole: false,
          exitOnCtrlC: false,
          isScreenReaderEnabled: false,
        });
        instance.waitUntilExit().catch(failed);
      }
      return easel ? easel.reveal(paper.frame) : paper.frame;
    },
    close() {
      instance?.unmount();
    },
  };
}

/** What Ink takes for a terminal: keeps the last frame. */
class Paper extends Writable {
  columns = 80;
  rows = 24;
  frame = "";

  resize(columns: number, rows: number): void {
    if (columns === this.columns && rows === this.rows) return;
    this.columns = columns;
    this.rows = rows;
    this.emit("resize");
  }

  override write(chunk: unknown): boolean {
    this.frame = String(chunk);
    return true;
  }
}
