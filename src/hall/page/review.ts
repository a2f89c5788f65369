import { randomBytes } from "node:crypto";
import { HallError } from "../../base/errors.ts";
import { isObject } from "../../base/json.ts";
import { describeError } from "../../server/http/page-door.ts";
import { verifyServers } from "../build.ts";
import { type ReviewSummary, summariseReview } from "../changes.ts";
import type { ModuleReview, ProjectText } from "../project-texts.ts";
import type { Decisions, Reviewer, ServerReview, StartRequest } from "../review.ts";
import { deciderOf, method, type PageParts, shape } from "./area.ts";
import type { PageError } from "./contract.ts";

export type ReviewState =
  | { readonly kind: "idle" }
  | { readonly kind: "working"; readonly servers: readonly string[] }
  | { readonly kind: "asking"; readonly id: string; readonly question: ReviewQuestion }
  | {
      readonly kind: "done";
      readonly approved: readonly string[];
      readonly open: readonly string[];
      /** Servers that did not answer. */
      readonly down: readonly string[];
    }
  | { readonly kind: "failed"; readonly error: PageError };

export type ReviewQuestion =
  | { readonly about: "starts"; readonly starts: readonly StartRequest[] }
  | {
      readonly about: "elsewhere";
      readonly servers: readonly {
        readonly name: string;
        readonly folder: string;
        readonly reached: string;
      }[];
    }
  | { readonly about: "servers"; readonly servers: readonly ReviewSummary[] }
  | {
      readonly about: "modules";
      readonly modules: readonly ModuleReview[];
      /** How their process is confined. */
      readonly runs: string;
    }
  | { readonly about: "texts"; readonly texts: readonly ProjectText[] };

export interface ReviewAnswer {
  /** Names of servers; for other questions, any name means all. */
  readonly approved: readonly string[];
  /** For servers: the tools whose calls require approval. Default: as they are marked. */
  readonly asking?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** A person who went away has not approved anything. */
const answerMsMax = 30 * 60_000;
const refusal: ReviewAnswer = { approved: [] };

interface Open {
  readonly id: string;
  answer(answer: ReviewAnswer): void;
}

/**
 * A review in the page asks the same questions as one at a terminal, one after the other. One review
 * runs at a time; its state is the hall's, so that it survives a reload of the page.
 */
export function reviewArea(parts: PageParts) {
  let state: ReviewState = { kind: "idle" };
  let open: Open | undefined;
  let run = 0;
  /** Gave the last answer. */
  let decider: string | undefined;

  function become(next: ReviewState): void {
    state = next;
    parts.hall.events.emit({ type: "changed", what: "review" });
  }

  function ask(ofRun: number, question: ReviewQuestion): Promise<ReviewAnswer> {
    if (ofRun !== run) return Promise.resolve(refusal);
    return new Promise((resolve) => {
      const id = randomBytes(12).toString("hex");
      const timer = setTimeout(() => settle(refusal), answerMsMax).unref();
      const settle = (answer: ReviewAnswer): void => {
        clearTimeout(timer);
        open = undefined;
        if (ofRun === run) become({ kind: "working", servers: [] });
        resolve(answer);
      };
      open = { id, answer: settle };
      become({ kind: "asking", id, question });
    });
  }

  async function work(ofRun: number, server: string | undefined): Promise<void> {
    const publish = (next: ReviewState): void => {
      if (ofRun === run) become(next);
    };
    try {
      const { reviews, down } = await verifyServers(await parts.settings(), {
        server,
        reviewer: createReviewer(
          (question) => ask(ofRun, question),
          () => decider,
        ),
        progress: {
          done: () => {},
          waiting: (servers) =>
            publish({ kind: "working", servers: servers.map(({ name }) => name) }),
        },
      });
      const isApproved = ({ isApproved }: ServerReview): boolean => isApproved;
      const names = (chosen: readonly ServerReview[]): string[] => chosen.map(({ name }) => name);
      publish({
        kind: "done",
        approved: names(reviews.filter(isApproved)),
        open: names(reviews.filter((review) => !isApproved(review))),
        down,
      });
    } catch (error) {
      parts.hall.log.debug({ err: error }, "a review in the page failed");
      publish({ kind: "failed", error: describeError(error) });
    }
  }

  return {
    review: method("admin", {}, async () => state),
    /** Ends a review that is under way. */
    beginReview: method("admin", { server: "string?" }, async ({ server }) => {
      run += 1;
      open?.answer(refusal);
      become({ kind: "working", servers: server === undefined ? [] : [server] });
      void work(run, server);
      return state;
    }),
    /** Throws CONFLICT for a question that is not open any more. */
    answerReview: method(
      "admin",
      { id: "string", answer: shape<ReviewAnswer>() },
      async ({ id, answer }, caller) => {
        if (open?.id !== id)
          throw new HallError("CONFLICT", "this question is not open any more", {
            hint: "Look at the review again.",
          });
        const read = readAnswer(answer);
        decider = deciderOf(caller);
        open.answer(read);
        return state;
      },
    ),
  };
}

function createReviewer(
  ask: (question: ReviewQuestion) => Promise<ReviewAnswer>,
  decider: () => string | undefined,
): Reviewer {
  const agrees = async (question: ReviewQuestion): Promise<boolean> =>
    (await ask(question)).approved.length > 0;
  return {
    place: "in the page",
    get by() {
      return decider();
    },
    chooseStarts: async (starts) => (await ask({ about: "starts", starts })).approved,
    mayTakeOver: (found) =>
      agrees({
        about: "elsewhere",
        servers: found.map(({ name, folder, review }) => ({
          name,
          folder,
          reached: review.reached,
        })),
      }),
    async review(reviews) {
      const servers = reviews.map(summariseReview);
      return readDecisions(reviews, await ask({ about: "servers", servers }));
    },
    mayLoadModules: (modules, runs) => agrees({ about: "modules", modules, runs }),
    mayUseTexts: (texts) => agrees({ about: "texts", texts }),
  };
}

function readDecisions(
  reviews: readonly ServerReview[],
  { approved, asking = {} }: ReviewAnswer,
): Decisions {
  return new Map(
    reviews
      .filter(({ name }) => approved.includes(name))
      .map((review) => {
        const chosen = Object.hasOwn(asking, review.name) ? asking[review.name] : undefined;
        const tools = review.tools.map(({ tool }) => tool);
        const destructive = chosen && new Set(tools.filter(({ name }) => chosen.includes(name)));
        return [review, { destructive }];
      }),
  );
}

/** Throws INVALID_PARAMS. */
function readAnswer({ approved, asking }: ReviewAnswer): ReviewAnswer {
  const isList = (value: unknown): boolean =>
    Array.isArray(value) && value.every((name) => typeof name === "string");
  const isValid =
    isList(approved) &&
    (asking === undefined || (isObject(asking) && Object.values(asking).every(isList)));
  if (isValid) return { approved, asking };
  throw new HallError("INVALID_PARAMS", '"approved" must be a list of names');
}
