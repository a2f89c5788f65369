// Domains of tools, their typical words and their well-known products. A group is named after the
// domains of most of its tools, and a server's name says more than the words of its tools.

export interface Domain {
  readonly name: string;
  /** In a combined name: `maps` in `maps_and_weather`. */
  readonly short?: string | undefined;
  /** For the sentence "Specialized agent for …". */
  readonly subjects: readonly string[];
  readonly words: string;
}

/** `name/short: subjects: words`. */
const table = `
browser_automation/browser: browser automation: browser click tab screenshot playwright puppeteer dom element selector scroll hover webpage
web_research/web: web search, web pages: search web google bing duckduckgo brave tavily exa searxng engine result internet online website url webpage scrape crawl extract link fetch html sitemap content http site
file_management/files: files, folders: file directory folder path filesystem copy move rename disk archive zip
code_hosting: code repositories, pull requests: repository issue pull branch commit merge git github gitlab fork review diff bitbucket
software_development/development: software development: code test debug function compile lint build python javascript typescript programming refactor symbol
software_packages/packages: software packages: package npm pypi dependency registry maven crate release version artifact install module
user_interfaces: user interfaces: component ui react button css tailwind icon theme shadcn frontend widget animation
command_line: commands, processes: command shell terminal process execute bash ssh script kill stdout session
databases: databases: database sql table query schema column row postgres mysql mongo mongodb sqlite collection redis index
cloud_operations/cloud: cloud infrastructure: cloud aws azure deploy kubernetes pod cluster container docker instance bucket terraform namespace serverless domain dns
monitoring: monitoring, logs: log metric alert trace monitor dashboard incident error grafana sentry latency health
documents: documents: document docx word paragraph pdf heading markdown convert page footnote
presentations: presentations: slide presentation powerpoint pptx deck layout template speaker bullet
spreadsheets: spreadsheets: excel spreadsheet worksheet sheet workbook cell formula csv range column
charts: charts, diagrams: chart diagram graph plot visualization pie histogram mermaid axis legend treemap
notes: notes, memory: note notebook notion obsidian memory knowledge entity relation observation remember recall bookmark property block
messaging: messages, chats: message channel chat slack discord telegram whatsapp send thread reply bot sms conversation
email: email: email mail inbox gmail draft attachment recipient outlook label unread subject
calendar: calendars, schedules: calendar event schedule meeting appointment reminder availability attendee booking reschedule
project_management/projects: tasks, projects: task project issue board sprint jira linear ticket milestone assignee todo kanban asana backlog
maps: maps, places, routes: map geocode address route location place coordinate direction distance latitude longitude nearby poi geographic street
travel: travel, bookings: flight hotel train ticket airport trip booking travel station airline itinerary airbnb destination railway passenger
weather: weather, climate: weather forecast temperature rain humidity climate wind precipitation storm
finance: finance, markets: stock market price financial share dividend earnings portfolio fund trading ticker option bond currency exchange quote income
crypto: cryptocurrencies, blockchains: crypto token blockchain wallet swap coin ethereum bitcoin nft defi transaction chain contract solana gas
sales: payments, sales: payment invoice customer order product shop price cart refund subscription billing checkout stripe shopify inventory
customer_relations/customers: customers, contacts: contact crm lead deal company salesforce hubspot account campaign pipeline opportunity customer
academic_research/research: academic papers, research: paper arxiv citation author journal abstract scholar publication pubmed doi academic literature
life_sciences: biology, chemistry, medicine: gene protein drug disease compound molecule variant cell clinical trial patient medical pathway biological chemical genomic medication health
news: news, trends: news headline trend hot ranking article topic feed rss trending
social_media: social media: post tweet follower reddit twitter comment like profile hashtag instagram linkedin subreddit youtube user
media: video, audio: video audio transcript subtitle youtube music song playlist speech voice track ffmpeg podcast album clip artist
design: images, design: image photo picture design figma color svg generate layer crop icon font canvas blender render
games: games: game player match team score league movie character anime pokemon steam quest card nba tournament film
food: food, recipes: recipe food meal ingredient restaurant cook nutrition menu dish diet calorie
mathematics: calculations: calculate number matrix equation add multiply divide sum statistics mean vector integral math median polynomial
data_analysis: data analysis: data dataset analysis dataframe statistics correlation analyze csv regression model train
time: dates, time zones: time timezone date clock day convert hour holiday calendar current
language: language, translation: translate language text word dictionary grammar summarize sentiment definition vocabulary spelling
security: security: vulnerability security scan threat malware password encrypt domain ip certificate exploit cve attack hash
devices: devices: device light sensor home assistant switch thermostat camera turn brightness robot vehicle engine door battery mobile
government_data/government: government data: government congress bill law legal court census public member vote country policy statute regulation
learning: learning, education: course student lesson quiz learn question exercise school grade teacher education university
jobs: jobs, careers: job resume candidate career salary employer recruit hiring interview employee
library_documentation/documentation: library documentation: documentation docs library api reference guide example sdk version
museums: art, books, museums: museum art artwork collection gallery book author painting library artist exhibition
space: space, earth observation: nasa space asteroid planet satellite earth earthquake mars astronomy wildfire orbit solar park
horoscopes: horoscopes, traditional calendars: horoscope tarot zodiac fortune lunar astrology
reasoning: step-by-step reasoning: thinking thought reasoning plan step decision sequential problem strategy
identity: users, access rights: user role permission admin authentication credential policy identity access tenant login oauth consent
language_models: language models, prompts: model prompt llm completion embedding inference openai claude gemini agent assistant
marketing: marketing, web analytics: campaign audience ad keyword seo analytics traffic conversion marketing backlink visitor
fitness: health, fitness: workout exercise activity sleep heart fitness steps weight training strava
automation: workflows, automation: workflow trigger automation zapier execution schedule scenario webhook node
`;

export const domains: readonly Domain[] = table
  .trim()
  .split("\n")
  .map((row) => {
    const [names = "", subjects = "", words = ""] = row.split(": ");
    const [name = "", short] = names.split("/");
    return { name, short, subjects: subjects.split(", "), words };
  });

/** `domain: products`, by the names above. */
const productTable = `
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
const products = parse(productTable);
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
