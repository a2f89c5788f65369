import { HallError } from "../../base/errors.ts";

/** `fetch` for providers that goes nowhere else: a key and a task are meant for the address in the config, and of the headers that carry keys `fetch` knows but one. */
export const fetchFromProvider: typeof fetch = async (input, init) => {
  const response = await fetch(input, { ...init, redirect: "manual" });
  if (response.status < 300 || response.status > 399 || response.status === 304) return response;
  await response.body?.cancel();
  const { origin } = new URL(input instanceof Request ? input.url : input);
  throw new HallError(
    "UNAVAILABLE",
    `${origin} answered ${response.status}, which leads to ${tellTarget(response, origin)}; nothing was sent there`,
    {
      hint: "If that is where the provider is, set planner.baseUrl to it.",
    },
  );
};

/** Its host says enough: an address may hold what is nobody's to read. */
function tellTarget({ headers }: Response, origin: string): string {
  const location = headers.get("location");
  if (location === null || !URL.canParse(location, origin)) return "no address";
  const target = new URL(location, origin);
  return target.origin === origin ? `${origin}${target.pathname}` : target.origin;
}
