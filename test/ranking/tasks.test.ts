// Tasks over the definitions of 25 published servers. They were written before their results were looked at.
import { expect, test } from "vitest";
import type { ToolkitText } from "../../src/ranking/document.ts";
import { createRanker, type Ranker } from "../../src/ranking/ranker.ts";
import { loadVectors } from "../../src/ranking/vectors.ts";
import { readFleet } from "../servers/fleets.ts";

const vectors = loadVectors();
const fleet = readFleet("recorded-large").toolkits;

function rankerOf(toolkits: readonly ToolkitText[]): Ranker {
  const ranker = createRanker({ vectors });
  for (const toolkit of toolkits) ranker.set(toolkit);
  return ranker;
}

const published = rankerOf(fleet);
const find = (task: string, ranker = published): string[] =>
  ranker.rank(task, { limit: 5 }).items.flatMap(({ fullName, alike }) => [fullName, ...alike]);

test.each([
  ["Delete the line with the typo from /srv/data/report/2026-q3.md", "filesystem.edit_file"],
  [
    "Open https://shop.example.com/cart?item=42 in the browser",
    "playwright.browser_navigate puppeteer.puppeteer_navigate chrome-devtools.navigate_page chrome-devtools.new_page",
  ],
  [
    "Show me what is in ~/projects/search/issues/notes.txt",
    "filesystem.read_text_file filesystem.read_file",
  ],
  ["Rename /home/ana/maps/route.csv to /home/ana/maps/route-old.csv", "filesystem.move_file"],
  ["Make a new folder /var/www/charts/2026", "filesystem.create_directory"],
  [
    "Get the text of https://docs.example.org/kubernetes/pods.html",
    "firecrawl.firecrawl_scrape tavily.tavily_extract",
  ],
  [
    "Crawl every page below https://blog.example.net/slack/",
    "firecrawl.firecrawl_crawl tavily.tavily_crawl",
  ],
  ["Post 'deploy of api.example.com is done' in the channel #general", "slack.slack_post_message"],
  [
    "Look up the profile of ana.lopez@example.com in Slack",
    "slack.slack_get_user_profile slack.slack_get_users",
  ],
  ["Create the contact bob@example.com in HubSpot", "hubspot.hubspot-batch-create-objects"],
  ["Attach ./invoices/rec_8812.pdf to the record in Airtable", "airtable.upload_attachment"],
  [
    "Get the contents of src/ranking/graph.ts from the repository https://github.com/acme/maps",
    "github.get_file_contents gitlab.get_file_contents",
  ],
  ["Apply deploy/ingress.yaml to the cluster", "kubernetes.kubectl_apply"],
  ["Find all files ending in .png below C:\\Users\\ana\\Pictures", "filesystem.search_files"],
  [
    "Take a screenshot of https://status.example.com/databases",
    "playwright.browser_take_screenshot puppeteer.puppeteer_screenshot chrome-devtools.take_screenshot",
  ],
])("paths and addresses do not mislead: %s", (task, accepted) => {
  const wanted = accepted.split(" ");
  expect(find(task).filter((name) => wanted.includes(name))).not.toEqual([]);
});

test("a deprecated tool comes after the one that replaces it", () => {
  const filesystem = fleet.filter(({ id }) => id === "filesystem");
  const [tools = []] = filesystem.map((each) => each.tools);
  const marked = tools.map((tool) =>
    tool.name === "read_file"
      ? { ...tool, description: `${tool.description} DEPRECATED: Use read_text_file instead.` }
      : tool,
  );
  const found = find("read the file docs/plan.md", rankerOf([{ id: "files", tools: marked }]));
  expect(found).toContain("files.read_file");
  expect(found.indexOf("files.read_text_file")).toBeLessThan(found.indexOf("files.read_file"));
});

const text = { type: "string" };
const foreign = rankerOf([
  ...fleet,
  {
    id: "rail12306",
    tools: [
      {
        name: "query_tickets",
        description: "查询两个车站之间的余票信息",
        inputSchema: { properties: { from_station: text, to_station: text, date: text } },
      },
      { name: "get_station_code", description: "根据车站名称返回电报码" },
    ],
  },
  {
    id: "amap",
    tools: [
      {
        name: "weather",
        description: "根据城市名称查询天气",
        inputSchema: { properties: { city: text } },
      },
      {
        name: "direction_bicycling",
        description: "规划骑行路线",
        inputSchema: { properties: { origin: text, destination: text } },
      },
    ],
  },
  {
    id: "rechnungen",
    tools: [
      {
        name: "create_invoice",
        description: "Legt eine neue Rechnung mit Positionen an",
        inputSchema: { properties: { customer_id: text, due_date: text } },
      },
      {
        name: "send_reminder",
        description: "Verschickt eine Mahnung",
        inputSchema: { properties: { invoice_number: text } },
      },
      {
        name: "umsatz",
        description: "Umsatz eines Monats",
        inputSchema: { properties: { month: text, tax_rate: text } },
      },
    ],
  },
]);

test.each([
  ["are there train tickets from this station to that one on Friday", "rail12306.query_tickets"],
  ["what is the code of the station", "rail12306.get_station_code"],
  ["what will the weather be like in this city", "amap.weather"],
  ["plan a bicycle ride to a destination", "amap.direction_bicycling"],
  ["write an invoice for a customer", "rechnungen.create_invoice"],
  ["remind them of the invoice they have not paid", "rechnungen.send_reminder"],
  ["revenue and tax of the month", "rechnungen.umsatz"],
])("descriptions in other languages are found by names and parameters: %s", (task, wanted) => {
  expect(find(task, foreign)).toContain(wanted);
});

test.each([
  ["Eröffne einen Pull Request auf GitHub", "github.create_pull_request"],
  ["Mach einen Screenshot der Website mit Puppeteer", "puppeteer.puppeteer_screenshot"],
  ["Neue Rechnung für den Kunden anlegen", "rechnungen.create_invoice"],
  ["在 GitLab 上创建一个 merge request", "gitlab.create_merge_request"],
  ["用 Slack 发送 message 到 channel", "slack.slack_post_message"],
  ["查询天气", "amap.weather"],
  ["骑行路线", "amap.direction_bicycling"],
])("a task in another language finds what its names allow: %s", (task, wanted) => {
  expect(find(task, foreign)).toContain(wanted);
});
