// Domains of tools and their typical words. A group is named after the domains of most of its tools.

export interface Domain {
  readonly name: string;
  /** In a combined name: `maps` in `maps_and_weather`. */
  readonly short?: string;
  /** For the sentence "Specialized agent for …". */
  readonly subjects: readonly string[];
  readonly words: string;
}

export const domains: readonly Domain[] = [
  {
    name: "browser_automation",
    short: "browser",
    subjects: ["browser automation"],
    words:
      "browser click tab screenshot playwright puppeteer dom element selector scroll hover webpage",
  },
  {
    name: "web_research",
    short: "web",
    subjects: ["web search"],
    words:
      "search web google bing duckduckgo brave tavily exa searxng engine result internet online",
  },
  {
    name: "web_pages",
    subjects: ["web pages"],
    words: "website url webpage scrape crawl extract link fetch html sitemap content http site",
  },
  {
    name: "file_management",
    short: "files",
    subjects: ["files", "folders"],
    words: "file directory folder path filesystem copy move rename disk archive zip",
  },
  {
    name: "code_hosting",
    subjects: ["code repositories", "pull requests"],
    words: "repository issue pull branch commit merge git github gitlab fork review diff bitbucket",
  },
  {
    name: "software_development",
    short: "development",
    subjects: ["software development"],
    words:
      "code test debug function compile lint build python javascript typescript programming refactor symbol",
  },
  {
    name: "software_packages",
    short: "packages",
    subjects: ["software packages"],
    words:
      "package npm pypi dependency registry maven crate release version artifact install module",
  },
  {
    name: "user_interfaces",
    subjects: ["user interfaces"],
    words: "component ui react button css tailwind icon theme shadcn frontend widget animation",
  },
  {
    name: "command_line",
    subjects: ["commands", "processes"],
    words: "command shell terminal process execute bash ssh script kill stdout session",
  },
  {
    name: "databases",
    subjects: ["databases"],
    words:
      "database sql table query schema column row postgres mysql mongo mongodb sqlite collection redis index",
  },
  {
    name: "cloud_operations",
    short: "cloud",
    subjects: ["cloud infrastructure"],
    words:
      "cloud aws azure deploy kubernetes pod cluster container docker instance bucket terraform namespace serverless domain dns",
  },
  {
    name: "monitoring",
    subjects: ["monitoring", "logs"],
    words: "log metric alert trace monitor dashboard incident error grafana sentry latency health",
  },
  {
    name: "documents",
    subjects: ["documents"],
    words: "document docx word paragraph pdf heading markdown convert page footnote",
  },
  {
    name: "presentations",
    subjects: ["presentations"],
    words: "slide presentation powerpoint pptx deck layout template speaker bullet",
  },
  {
    name: "spreadsheets",
    subjects: ["spreadsheets"],
    words: "excel spreadsheet worksheet sheet workbook cell formula csv range column",
  },
  {
    name: "charts",
    subjects: ["charts", "diagrams"],
    words: "chart diagram graph plot visualization pie histogram mermaid axis legend treemap",
  },
  {
    name: "notes_and_memory",
    short: "notes",
    subjects: ["notes", "memory"],
    words:
      "note notebook notion obsidian memory knowledge entity relation observation remember recall bookmark property block",
  },
  {
    name: "messaging",
    subjects: ["messages", "chats"],
    words:
      "message channel chat slack discord telegram whatsapp send thread reply bot sms conversation",
  },
  {
    name: "email",
    subjects: ["email"],
    words: "email mail inbox gmail draft attachment recipient outlook label unread subject",
  },
  {
    name: "calendar",
    subjects: ["calendars", "schedules"],
    words:
      "calendar event schedule meeting appointment reminder availability attendee booking reschedule",
  },
  {
    name: "project_management",
    short: "projects",
    subjects: ["tasks", "projects"],
    words:
      "task project issue board sprint jira linear ticket milestone assignee todo kanban asana backlog",
  },
  {
    name: "maps_and_places",
    short: "maps",
    subjects: ["maps", "places", "routes"],
    words:
      "map geocode address route location place coordinate direction distance latitude longitude nearby poi geographic street",
  },
  {
    name: "travel",
    subjects: ["travel", "bookings"],
    words:
      "flight hotel train ticket airport trip booking travel station airline itinerary airbnb destination railway passenger",
  },
  {
    name: "weather",
    subjects: ["weather", "climate"],
    words: "weather forecast temperature rain humidity climate wind precipitation storm",
  },
  {
    name: "finance",
    subjects: ["finance", "markets"],
    words:
      "stock market price financial share dividend earnings portfolio fund trading ticker option bond currency exchange quote income",
  },
  {
    name: "crypto",
    subjects: ["cryptocurrencies", "blockchains"],
    words:
      "crypto token blockchain wallet swap coin ethereum bitcoin nft defi transaction chain contract solana gas",
  },
  {
    name: "payments_and_sales",
    short: "sales",
    subjects: ["payments", "sales"],
    words:
      "payment invoice customer order product shop price cart refund subscription billing checkout stripe shopify inventory",
  },
  {
    name: "customer_relations",
    short: "customers",
    subjects: ["customers", "contacts"],
    words:
      "contact crm lead deal company salesforce hubspot account campaign pipeline opportunity customer",
  },
  {
    name: "academic_research",
    short: "research",
    subjects: ["academic papers", "research"],
    words:
      "paper arxiv citation author journal abstract scholar publication pubmed doi academic literature",
  },
  {
    name: "life_sciences",
    subjects: ["biology", "chemistry", "medicine"],
    words:
      "gene protein drug disease compound molecule variant cell clinical trial patient medical pathway biological chemical genomic medication health",
  },
  {
    name: "news_and_trends",
    short: "news",
    subjects: ["news", "trends"],
    words: "news headline trend hot ranking article topic feed rss trending",
  },
  {
    name: "social_media",
    subjects: ["social media"],
    words:
      "post tweet follower reddit twitter comment like profile hashtag instagram linkedin subreddit youtube user",
  },
  {
    name: "video_and_audio",
    short: "media",
    subjects: ["video", "audio"],
    words:
      "video audio transcript subtitle youtube music song playlist speech voice track ffmpeg podcast album clip artist",
  },
  {
    name: "images_and_design",
    short: "design",
    subjects: ["images", "design"],
    words:
      "image photo picture design figma color svg generate layer crop icon font canvas blender render",
  },
  {
    name: "games",
    subjects: ["games"],
    words:
      "game player match team score league movie character anime pokemon steam quest card nba tournament film",
  },
  {
    name: "food",
    subjects: ["food", "recipes"],
    words: "recipe food meal ingredient restaurant cook nutrition menu dish diet calorie",
  },
  {
    name: "mathematics",
    subjects: ["calculations"],
    words:
      "calculate number matrix equation add multiply divide sum statistics mean vector integral math median polynomial",
  },
  {
    name: "data_analysis",
    subjects: ["data analysis"],
    words:
      "data dataset analysis dataframe statistics correlation analyze csv regression model train",
  },
  {
    name: "time",
    subjects: ["dates", "time zones"],
    words: "time timezone date clock day convert hour holiday calendar current",
  },
  {
    name: "language",
    subjects: ["language", "translation"],
    words:
      "translate language text word dictionary grammar summarize sentiment definition vocabulary spelling",
  },
  {
    name: "security",
    subjects: ["security"],
    words:
      "vulnerability security scan threat malware password encrypt domain ip certificate exploit cve attack hash",
  },
  {
    name: "devices_and_home",
    short: "devices",
    subjects: ["devices", "smart homes"],
    words:
      "device light sensor home assistant switch thermostat camera turn brightness robot vehicle engine door battery mobile",
  },
  {
    name: "government_data",
    short: "government",
    subjects: ["government data"],
    words:
      "government congress bill law legal court census public member vote country policy statute regulation",
  },
  {
    name: "learning",
    subjects: ["learning", "education"],
    words:
      "course student lesson quiz learn question exercise school grade teacher education university",
  },
  {
    name: "jobs",
    subjects: ["jobs", "careers"],
    words: "job resume candidate career salary employer recruit hiring interview employee",
  },
  {
    name: "library_documentation",
    short: "documentation",
    subjects: ["library documentation"],
    words: "documentation docs library api reference guide example sdk version",
  },
  {
    name: "art_and_museums",
    short: "museums",
    subjects: ["art", "books", "museums"],
    words: "museum art artwork collection gallery book author painting library artist exhibition",
  },
  {
    name: "space_and_earth",
    short: "space",
    subjects: ["space", "earth observation"],
    words:
      "nasa space asteroid planet satellite earth earthquake mars astronomy wildfire orbit solar park",
  },
  {
    name: "fortune_and_calendars",
    short: "horoscopes",
    subjects: ["horoscopes", "traditional calendars"],
    words: "horoscope tarot zodiac fortune lunar astrology",
  },
  {
    name: "reasoning",
    subjects: ["step-by-step reasoning"],
    words: "thinking thought reasoning plan step decision sequential problem strategy",
  },
  {
    name: "identity_and_access",
    short: "identity",
    subjects: ["users", "access rights"],
    words:
      "user role permission admin authentication credential policy identity access tenant login oauth consent",
  },
  {
    name: "language_models",
    subjects: ["language models", "prompts"],
    words: "model prompt llm completion embedding inference openai claude gemini agent assistant",
  },
  {
    name: "marketing",
    subjects: ["marketing", "web analytics"],
    words:
      "campaign audience ad keyword seo analytics traffic conversion marketing backlink visitor",
  },
  {
    name: "health_and_fitness",
    short: "fitness",
    subjects: ["health", "fitness"],
    words: "workout exercise activity sleep heart fitness steps weight training strava",
  },
  {
    name: "automation",
    subjects: ["workflows", "automation"],
    words: "workflow trigger automation zapier execution schedule scenario webhook node",
  },
];
