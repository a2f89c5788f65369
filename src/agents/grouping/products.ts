// Well-known products and the domain of their tools: a server's name says more than the words of its tools.

/** `domain: products`, by the names of `group-domains.ts`. */
const table = `
browser_automation: playwright puppeteer selenium browserbase stagehand webdriver devtools hyperbrowser steel
web_research: tavily exa firecrawl brave duckduckgo searxng serpapi serper perplexity kagi jina apify brightdata scrapingbee wikipedia google-search bing linkup
code_hosting: github gitlab bitbucket gitea forgejo codeberg gerrit
software_development: circleci jenkins buildkite sonarqube semgrep codacy jetbrains vscode serena xcode
software_packages: npm pypi maven nuget artifactory
library_documentation: context7 deepwiki devdocs
user_interfaces: shadcn storybook magicui
databases: postgres postgresql mysql mariadb sqlite mongodb mongo redis elastic elasticsearch opensearch clickhouse snowflake bigquery neo4j supabase neon planetscale duckdb dynamodb cassandra couchbase pinecone qdrant weaviate chroma milvus airtable prisma dbhub oracle mssql firebase
cloud_operations: kubernetes kubectl k8s docker aws azure gcp cloudflare terraform pulumi heroku netlify vercel railway digitalocean fly render helm nomad portainer rancher argocd hetzner
monitoring: sentry grafana datadog prometheus newrelic dynatrace pagerduty honeycomb splunk axiom loki rollbar logfire opsgenie
presentations: powerpoint pptx
spreadsheets: excel sheets googlesheets
documents: ms-365 office365 ms365 m365 pandoc gdrive drive dropbox onedrive sharepoint docx
notes: notion obsidian evernote roam logseq mem0 apple-notes joplin confluence coda
messaging: slack discord telegram whatsapp teams mattermost line twilio signal intercom zulip
email: gmail outlook mailgun sendgrid resend mailchimp imap postmark
calendar: calendly gcal google-calendar
project_management: jira linear asana trello clickup monday basecamp todoist shortcut youtrack redmine plane height
maps: google-maps mapbox openstreetmap osm amap baidu-map here tomtom
travel: airbnb booking kiwi amadeus skyscanner expedia
weather: openweather accuweather openmeteo noaa qweather
finance: yahoo-finance alphavantage polygon bloomberg alpaca tradingview quickbooks xero ynab plaid
crypto: coingecko coinbase binance etherscan solana ethereum bitcoin uniswap dexscreener
sales: stripe paypal shopify square woocommerce magento adyen razorpay chargebee
customer_relations: salesforce hubspot zoho pipedrive zendesk freshdesk attio close
academic_research: arxiv pubmed semanticscholar scholar zotero crossref openalex
life_sciences: biomcp chembl uniprot ncbi ensembl opentargets
social_media: twitter reddit linkedin instagram facebook bluesky mastodon tiktok pinterest hackernews
media: youtube spotify ffmpeg elevenlabs vimeo soundcloud plex sonos deezer
design: figma canva blender photoshop replicate stability midjourney dalle sketch penpot
charts: mermaid plantuml antv echarts plotly excalidraw vega
data_analysis: jupyter pandas databricks tableau powerbi dbt looker metabase kaggle
devices: homeassistant home-assistant hue tuya esp32 arduino
security: snyk virustotal shodan trivy nmap burp wazuh crowdstrike
identity: auth0 okta keycloak clerk entra
language: deepl
language_models: openai anthropic gemini huggingface ollama langfuse
marketing: ahrefs semrush google-analytics mixpanel amplitude posthog klaviyo plausible
automation: zapier n8n make ifttt pipedream workato
fitness: strava garmin fitbit whoop
command_line: desktop-commander tmux iterm
government_data: congress eurostat fred usaspending
museums: met-museum rijksmuseum
space: nasa
games: steam minecraft unity unreal godot chess
`;

/** Ordinary names of servers: they say the domain as well, but name no product. */
const ordinary = `
file_management: filesystem files file fs disk folders
notes: memory notes thinking sequential-thinking knowledge
web_research: web fetch search websearch internet
data_analysis: data dataset
mathematics: calculator math
time: time clock
weather: weather forecast
email: mail email
calendar: calendar
messaging: chat messages
command_line: shell terminal bash
databases: sql database db
documents: pdf documents
code_hosting: git issues
maps: maps
charts: chart charts diagrams
travel: flights hotels
finance: stocks exchange-rates
food: recipes
design: painter images
language: translate translator
`;

const parse = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text
      .trim()
      .split("\n")
      .flatMap((row) => {
        const [domain = "", names = ""] = row.split(": ");
        return names.split(" ").map((name) => [name, domain] as const);
      }),
  );
const products = parse(table);
const ordinaryNames = parse(ordinary);

export interface ServerEvidence {
  /** The name of a domain. */
  readonly domain: string;
  /** Undefined if the id is an ordinary word. */
  readonly product?: string | undefined;
}

/** The field of a toolkit, by its id. */
export function readServerName(id: string): ServerEvidence | undefined {
  const words = id
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean);
  const names = [...words.slice(1).map((word, at) => `${words[at]}-${word}`), ...words];
  const product = names.find((name) => products.has(name));
  if (product !== undefined) return { product, domain: products.get(product) as string };
  const name = names.find((each) => ordinaryNames.has(each));
  return name === undefined ? undefined : { domain: ordinaryNames.get(name) as string };
}
