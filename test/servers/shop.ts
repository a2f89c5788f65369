import type { JsonObject } from "../../src/base/json.ts";
import type { Toolkit } from "../../src/tool.ts";
import { createToolkit, type Run, type TestTool, text } from "./toolkits.ts";

/**
 * Toolkits with words of their own, for tests of finding and grouping: files, an issue tracker, a
 * browser, the weather.
 */
export function createShop(): readonly Toolkit[] {
  return Object.entries(stock).map(([id, tools]) => createShelf(id, tools));
}

export function createShelf(
  id: string,
  tools: Readonly<Record<string, string>>,
  rest: Partial<Toolkit> = {},
): Toolkit {
  const run: Run = (args) => ({ ...text(`${id} did it`), structuredContent: args });
  const made = Object.entries(tools).map(([name, words]): [string, TestTool] => {
    const [description = "", parameters = ""] = words.split(" | ");
    return [name, { description, inputSchema: schemaOf(parameters), run }];
  });
  return createToolkit(id, Object.fromEntries(made), rest);
}

function schemaOf(parameters: string): JsonObject {
  const names = parameters.split(" ").filter(Boolean);
  return {
    type: "object",
    properties: Object.fromEntries(
      names.map((name) => [
        name.replace("?", ""),
        { type: name.startsWith("count") ? "integer" : "string" },
      ]),
    ),
    required: names.filter((name) => !name.endsWith("?")),
  };
}

export const stock = {
  files: {
    read_file: "Read the complete contents of a file as text | path count_lines?",
    write_file: "Write text to a file, or create a new one | path text",
    list_directory: "List the files and folders of a directory | path",
    search_files: "Search files by a glob pattern | path pattern",
    move_file: "Move or rename a file | source destination",
  },
  tracker: {
    create_issue:
      "Create an issue in a repository, to report a bug or ask for a feature | repository title body?",
    list_issues: "List the open issues of a repository | repository",
    close_issue: "Close an issue | repository number",
    create_pull_request: "Open a pull request from a branch | repository branch title",
    merge_pull_request: "Merge a pull request | repository number",
  },
  browser: {
    open_page: "Open a web page in the browser | url",
    click_element: "Click an element of the web page | selector",
    fill_form: "Fill a form on the web page | selector text",
    take_screenshot: "Take a screenshot of the web page | name?",
    run_script: "Run JavaScript in the web page | code",
  },
  weather: {
    current_weather: "Get the current weather and temperature of a city | city",
    weather_forecast: "Get the weather forecast of a city for some days | city count_days?",
  },
} as const;
