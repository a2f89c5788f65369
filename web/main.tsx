import { render } from "preact";
import { App } from "./app.tsx";
import "uplot/dist/uPlot.min.css";
import "./style/tokens.css";
import "./style/frame.css";
import "./style/parts.css";
import "./style/screens.css";
import { applyTheme } from "./theme.ts";

applyTheme();
const root = document.getElementById("app");
if (root) render(<App />, root);
