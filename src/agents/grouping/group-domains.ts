// Domains of tools and their typical words. A group is named after the domains of most of its tools.

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
devices: devices, smart homes: device light sensor home assistant switch thermostat camera turn brightness robot vehicle engine door battery mobile
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
