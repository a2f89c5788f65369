import "uplot/dist/uPlot.min.css";
import "./style/tokens.css";
import "./style/frame.css";
import "./style/parts.css";
import "./style/screens.css";
import { readCallback } from "./callback.ts";
import { readFirst } from "./first.ts";
import { applyTheme } from "./theme.ts";

applyTheme();
readCallback();
// A code has to become a session first.
const first = location.hash.startsWith("#/sign-in") ? undefined : readFirst();
const { start } = await import("./app.tsx");
start(first);
