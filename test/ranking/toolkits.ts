import type { ToolkitText } from "../../src/ranking/document.ts";

const text = { type: "string" };

/** Five typical servers. */
export const toolkits: readonly ToolkitText[] = [
  {
    id: "github",
    description: "Work with repositories on GitHub",
    tools: [
      {
        name: "create_issue",
        description: "Open a new issue in a repository",
        inputSchema: {
          properties: { title: { ...text, description: "Headline of the issue" }, body: text },
        },
      },
      {
        name: "list_pull_requests",
        description: "List pull requests, newest first",
        inputSchema: { properties: { state: { enum: ["open", "closed", "merged"] } } },
      },
      { name: "merge_pull_request", description: "Merge a pull request into its base branch" },
      { name: "search_code", description: "Search source code in all repositories" },
      { name: "create_branch", description: "Create a branch from a commit" },
    ],
  },
  {
    id: "files",
    description: "Read and write files below one folder",
    tools: [
      { name: "read_file", description: "Read the content of a file" },
      { name: "write_file", description: "Write text to a file, replacing it" },
      { name: "list_directory", description: "List files and folders in a directory" },
      { name: "move_file", description: "Move or rename a file" },
      { name: "search_files", description: "Find files whose name matches a pattern" },
    ],
  },
  {
    id: "maps",
    description: "Places and routes",
    tools: [
      { name: "geocode_address", description: "Turn a street address into coordinates" },
      {
        name: "find_route",
        description: "Directions between two places by car, bicycle or on foot",
      },
      { name: "nearby_places", description: "Restaurants, hotels and parking near a location" },
      { name: "weather_forecast", description: "Forecast of temperature and rain for a city" },
    ],
  },
  {
    id: "mail",
    description: "Your mailbox",
    tools: [
      { name: "send_email", description: "Send an email with attachments to recipients" },
      { name: "search_inbox", description: "Search messages in the inbox by sender or subject" },
      { name: "create_draft", description: "Save a draft without sending it" },
    ],
  },
  {
    id: "chinese",
    description: "中文工具",
    tools: [
      { name: "train_tickets", description: "查询火车票的余票和价格" },
      { name: "translate", description: "把文本翻译成中文" },
    ],
  },
];
