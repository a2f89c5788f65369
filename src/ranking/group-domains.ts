// What people call their tools' fields, and the words such tools use. A group is named after the fields most of its tools belong to.

export interface Domain {
  readonly name: string;
  /** As it stands in a sentence: "Specialized agent for …". */
  readonly phrase: string;
  readonly words: string;
}

export const domains: readonly Domain[] = [
  {
    name: "browser_automation",
    phrase: "browser automation",
    words: "browser page click tab screenshot playwright puppeteer dom element selector scroll hover webpage",
  },
  {
    name: "web_research",
    phrase: "web search and research",
    words: "search web crawl scrape extract website results searxng google bing tavily exa url content link",
  },
  { name: "file_management", phrase: "files and folders", words: "file directory folder path filesystem copy move rename disk archive zip" },
  {
    name: "code_hosting",
    phrase: "code repositories and reviews",
    words: "repository issue pull branch commit merge github gitlab fork review diff bitbucket",
  },
  {
    name: "software_development",
    phrase: "software development",
    words: "code test debug function compile lint build package library npm python javascript programming refactor symbol",
  },
  { name: "command_line", phrase: "commands and processes", words: "command shell terminal process execute bash ssh script kill stdout session" },
  {
    name: "databases",
    phrase: "databases and queries",
    words: "database sql table query schema column row postgres mysql mongo mongodb sqlite collection redis index",
  },
  {
    name: "cloud_operations",
    phrase: "cloud and infrastructure",
    words: "cloud aws azure deploy kubernetes pod cluster container docker instance bucket terraform namespace serverless domain dns",
  },
  { name: "monitoring", phrase: "monitoring and logs", words: "log metric alert trace monitor dashboard incident error grafana sentry latency health" },
  {
    name: "documents",
    phrase: "documents and office files",
    words: "document docx word paragraph pdf heading slide presentation powerpoint markdown convert page footnote",
  },
  { name: "spreadsheets", phrase: "spreadsheets", words: "excel spreadsheet worksheet sheet workbook cell formula csv range column" },
  { name: "charts", phrase: "charts and diagrams", words: "chart diagram graph plot visualization pie histogram mermaid axis legend treemap" },
  { name: "notes_and_memory", phrase: "notes and memory", words: "note memory knowledge entity relation observation remember obsidian notion recall bookmark" },
  { name: "messaging", phrase: "messages and chats", words: "message channel chat slack discord telegram whatsapp send thread reply bot sms conversation" },
  { name: "email", phrase: "email", words: "email mail inbox gmail draft attachment recipient outlook label unread subject" },
  {
    name: "calendar",
    phrase: "calendars and schedules",
    words: "calendar event schedule meeting appointment reminder availability attendee booking reschedule",
  },
  {
    name: "project_management",
    phrase: "tasks and projects",
    words: "task project issue board sprint jira linear ticket milestone assignee todo kanban asana backlog",
  },
  {
    name: "maps_and_places",
    phrase: "maps, places and routes",
    words: "map geocode address route location place coordinate direction distance latitude longitude nearby poi geographic street",
  },
  {
    name: "travel",
    phrase: "travel and bookings",
    words: "flight hotel train ticket airport trip booking travel station airline itinerary airbnb destination railway passenger",
  },
  { name: "weather", phrase: "weather and climate", words: "weather forecast temperature rain humidity climate wind precipitation storm" },
  {
    name: "finance",
    phrase: "finance and markets",
    words: "stock market price financial share dividend earnings portfolio fund trading ticker option bond currency exchange quote income",
  },
  {
    name: "crypto",
    phrase: "cryptocurrencies and blockchains",
    words: "crypto token blockchain wallet swap coin ethereum bitcoin nft defi transaction chain contract solana gas",
  },
  {
    name: "payments_and_sales",
    phrase: "payments and sales",
    words: "payment invoice customer order product shop price cart refund subscription billing checkout stripe shopify inventory",
  },
  {
    name: "customer_relations",
    phrase: "customers and contacts",
    words: "contact crm lead deal company salesforce hubspot account campaign pipeline opportunity customer",
  },
  {
    name: "academic_research",
    phrase: "papers and academic research",
    words: "paper arxiv citation author journal abstract scholar publication pubmed doi academic literature",
  },
  {
    name: "life_sciences",
    phrase: "biology, chemistry and medicine",
    words: "gene protein drug disease compound molecule variant cell clinical trial patient medical pathway biological chemical genomic medication health",
  },
  { name: "news_and_trends", phrase: "news and trends", words: "news headline trend hot ranking article topic feed rss trending" },
  {
    name: "social_media",
    phrase: "social media",
    words: "post tweet follower reddit twitter comment like profile hashtag instagram linkedin subreddit youtube user",
  },
  {
    name: "video_and_audio",
    phrase: "video and audio",
    words: "video audio transcript subtitle youtube music song playlist speech voice track ffmpeg podcast album clip artist",
  },
  {
    name: "images_and_design",
    phrase: "images and design",
    words: "image photo picture design figma color svg generate layer crop icon font canvas blender render",
  },
  {
    name: "games",
    phrase: "games and entertainment",
    words: "game player match team score league movie character anime pokemon steam quest card nba tournament film",
  },
  { name: "food", phrase: "food and recipes", words: "recipe food meal ingredient restaurant cook nutrition menu dish diet calorie" },
  {
    name: "mathematics",
    phrase: "calculation and mathematics",
    words: "calculate number matrix equation add multiply divide sum statistics mean vector integral math median polynomial",
  },
  { name: "data_analysis", phrase: "data analysis", words: "data dataset analysis dataframe statistics correlation analyze csv regression model train" },
  { name: "time", phrase: "dates and time zones", words: "time timezone date clock day convert hour holiday calendar current" },
  {
    name: "language",
    phrase: "language and translation",
    words: "translate language text word dictionary grammar summarize sentiment definition vocabulary spelling",
  },
  { name: "security", phrase: "security", words: "vulnerability security scan threat malware password encrypt domain ip certificate exploit cve attack hash" },
  {
    name: "devices_and_home",
    phrase: "devices and smart homes",
    words: "device light sensor home assistant switch thermostat camera turn brightness robot vehicle engine door battery mobile",
  },
  {
    name: "government_data",
    phrase: "public and government data",
    words: "government congress bill law legal court census public member vote country policy statute regulation",
  },
  { name: "learning", phrase: "learning and education", words: "course student lesson quiz learn question exercise school grade teacher education university" },
  { name: "jobs", phrase: "jobs and careers", words: "job resume candidate career salary employer recruit hiring interview employee" },
  { name: "library_documentation", phrase: "documentation of libraries and APIs", words: "documentation docs library api reference guide example sdk version" },
  { name: "art_and_museums", phrase: "art, books and museums", words: "museum art artwork collection gallery book author painting library artist exhibition" },
  {
    name: "space_and_earth",
    phrase: "space and earth observation",
    words: "nasa space asteroid planet satellite earth earthquake mars astronomy wildfire orbit solar park",
  },
  { name: "fortune_and_calendars", phrase: "horoscopes and traditional calendars", words: "horoscope tarot zodiac fortune lunar astrology" },
  { name: "reasoning", phrase: "planning and step-by-step reasoning", words: "thinking thought reasoning plan step decision sequential problem strategy" },
];
