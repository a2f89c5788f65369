import { pythonTool, typescriptService } from "./projects.ts";

/** Fifty descriptions as people write them. Their drafts are in test/golden/workflow, to be read by a person. */
export const everyday: Readonly<Record<string, readonly string[]>> = {
  english: [
    "dark",
    "Dark mode",
    "asdf",
    "Can we have dark mode?",
    "Export to CSV",
    "Export the report as CSV. Maybe PDF later.",
    "Users can upload photos and organize them into albums. Albums are grouped by date. Admins must approve shared albums within 24 hours.",
    "Build an app that helps me organize my photos in separate albums",
    "Members of a sports club can book a tennis court for one hour, at most two weeks ahead, and cancel up to 24 hours before",
    "A landlord wants to see which tenants have not paid rent this month, and send them a reminder by SMS. The reminder names the amount and the due date.",
    "As a nurse, I want to record vital signs so that doctors can see them. As a doctor, I want to see the last seven days. Values out of range are shown in red.",
    "As a librarian, I want to create, edit and delete book records with a title, an author and an ISBN so that the catalogue stays current. Readers can search books by title or author. When a book is lent, it must not be shown as available.",
    "Fix the login page, it is slow",
    "The checkout crashes when the cart is empty.",
    "Search should return results in under 200 ms for 95 % of requests. It covers titles and tags.",
    "Password reset by email. The link expires after 1 hour. If the address is unknown, the same message is shown. Three attempts per hour at most.",
    "Rate limiting for the public API: 100 requests per minute per key, 429 with Retry-After above that.",
    "Rename the field `userName` to `username` everywhere, e.g. in the API, the forms and the docs. Old clients keep working until v3.0.",
    "Two-factor authentication",
    "I'm tired of copying invoices by hand from my mailbox. I'd like them saved to a folder, one per month.",
    "Notify me on Slack when a build fails, unless I broke it myself",
    "Parents get a push message if their child has not arrived at school by 8:15. Teachers can mark a child as excused. What about school trips?",
    "Undo for the last 20 actions in the editor, with Ctrl+Z and Ctrl+Shift+Z to redo",
    "Importing contacts from a spreadsheet. Duplicates are merged by email address. Broken rows are listed with their line number and skipped.",
    "We want to support several languages (German, French), not only English; the user picks one in the settings.",
    "Migrate from MySQL 5.7 to PostgreSQL 16 without downtime.",
    `# Team calendar

Everyone in a team sees who is away.

## User stories
- As an employee, I want to enter my holidays so that my team knows.
- As a manager, I want to approve holidays.

## Acceptance criteria
- Given an open request, when the manager approves it, then it is shown in the calendar.

Out of scope: sick leave`,
    `We need a webhook relay for our platform.

- Operators can register endpoints with a URL and a secret
- The relay must sign every request with HMAC and retry failed deliveries up to 5 times with exponential backoff
- If an endpoint fails for 24 hours, it should be disabled and its owner is notified by email
- Operators can see the last 100 deliveries of an endpoint and replay any of them
- Delivery must be fast and the system should be secure`,
    `Subject: shopping list

Hi,
my husband and I would like to share a shopping list on our phones. When one of us ticks an item, the other one
sees it at once. It has to work in the shop without internet, too!
Thanks, Anna`,
    `Entities: Invoice (number, date, total), Customer
Goals: 90 % of invoices are paid within 14 days
Invoices can be sent by email. Who may cancel an invoice?
Constraints: runs on our own server`,
  ],
  languages: [
    "Benutzer können Fotos hochladen. Wenn der Speicher voll ist, wird der Upload abgelehnt.",
    "Als Lehrerin möchte ich Noten eintragen, damit die Eltern sie sehen. Vielleicht auch Fehlzeiten.",
    "Les utilisateurs peuvent partager un album avec leurs amis. Si l'album est privé, un mot de passe est demandé.",
    "Los usuarios pueden buscar libros por título. ¿Se pueden reservar libros?",
    "Gli ospiti possono prenotare un tavolo per un massimo di 8 persone.",
    "Usuários podem pagar com Pix. Quando o pagamento falha, o pedido continua aberto.",
    "Пользователи могут экспортировать заметки в PDF. Файл создаётся за 5 секунд.",
    "写真をアップロードしてアルバムに整理できる。アルバムは日付順に並ぶ。",
    "사용자는 메모를 검색할 수 있다",
    "يمكن للمستخدمين مشاركة الصور. هل يمكن حذفها؟",
  ],
};

export interface RepositoryCase {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  readonly description: string;
}

const shop: Readonly<Record<string, string>> = {
  "package.json": JSON.stringify({
    name: "shop",
    scripts: { build: "tsc", test: "vitest run" },
    dependencies: { express: "5.1.0", pg: "8.13.1" },
    devDependencies: { vitest: "3.1.0" },
  }),
  "pnpm-lock.yaml": "lockfileVersion: '9.0'\n",
  "AGENTS.md":
    "# Shop\n\n## Rules\n\n- Money is stored in cents\n- Routes stay thin: logic lives in src/services\n- Test first: every change begins with a failing test\n\n## Commands\n\n- Run pnpm test\n",
  "README.md": "# Shop\n",
  "src/app.ts": "",
  "src/models/order.ts": "",
  "src/models/customer.ts": "",
  "src/routes/orders.ts": "",
  "test/orders.test.ts": "",
};

export const repositories: readonly RepositoryCase[] = [
  {
    name: "a TypeScript shop with rules in AGENTS.md",
    files: shop,
    description:
      "Customers can pay an order by credit card or PayPal. If the payment fails, the order stays open and the customer is told why. Refunds are only possible within 30 days and only by support staff. Every payment is logged. Support mail about payments falls by 30 %.",
  },
  {
    name: "a TypeScript service",
    files: typescriptService,
    description: "Show the price of an order line with and without tax.",
  },
  {
    name: "a Python command",
    files: {
      ...pythonTool,
      "pyproject.toml": `[project]
name = "bucketctl"
requires-python = ">=3.11"
dependencies = ["click>=8.1", "boto3"]
[dependency-groups]
dev = ["pytest>=8"]
`,
      "uv.lock": "version = 1\n",
    },
    description:
      "Add a sync command to the CLI that uploads changed files to an S3 bucket. Only files whose checksum changed are uploaded. Interrupted uploads resume where they stopped. A --dry-run flag prints what would be uploaded.",
  },
  {
    name: "a Go service",
    files: {
      "go.mod":
        "module example.com/tracker\n\ngo 1.23\n\nrequire github.com/go-chi/chi/v5 v5.1.0\n",
      "main.go": "package main\n",
      "internal/store/store.go": "",
      "internal/http/handler.go": "",
      "internal/http/handler_test.go": "",
    },
    description: "Add a health endpoint. It answers 503 while the store is not reachable.",
  },
  {
    name: "a Rust library",
    files: {
      "Cargo.toml": '[package]\nname = "parse"\nversion = "0.1.0"\n[dependencies]\nserde = "1"\n',
      "src/lib.rs": "",
      "src/parser.rs": "",
    },
    description: "Parser errors carry the line and the column",
  },
  {
    name: "a Rails application",
    files: {
      Gemfile: 'gem "rails", "~> 8.0"\n',
      "app/models/user.rb": "",
      "app/controllers/users_controller.rb": "",
      "spec/models/user_spec.rb": "",
      "README.md": "# App\n",
    },
    description: "Only admins can delete users. A deleted user can be restored for 14 days.",
  },
  {
    name: "a Java service with a wrapper",
    files: {
      "pom.xml": "<project></project>\n",
      mvnw: "#!/bin/sh\n",
      "src/main/java/app/Application.java": "",
      "src/main/java/app/invoice/InvoiceService.java": "",
      "src/test/java/app/invoice/InvoiceServiceTest.java": "",
    },
    description: "Invoices are sent as PDF by e-mail. When sending fails, it is tried again.",
  },
  {
    name: "a static web site",
    files: { "index.html": "", "css/style.css": "", "about/index.html": "" },
    description: "A contact form on the about page",
  },
  {
    name: "a monorepo with a test script that only fails",
    files: {
      "package.json": JSON.stringify({
        workspaces: ["packages/*"],
        scripts: { test: 'echo "Error: no test specified" && exit 1' },
      }),
      "packages/web/package.json": JSON.stringify({ dependencies: { react: "19.0.0" } }),
      "packages/web/src/App.tsx": "",
      "packages/api/package.json": JSON.stringify({ dependencies: { hono: "4.6.0" } }),
      "packages/api/src/server.ts": "",
    },
    description: "Die App merkt sich die letzte Seite. Der Server speichert sie pro Benutzer.",
  },
  {
    name: "notes without code",
    files: { "README.md": "# Ideas\n", "docs/idea.md": "A board game.\n" },
    description: "Two players take turns. The game ends when a player has no cards left.",
  },
];
