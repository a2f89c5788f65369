import { useLayoutEffect, useState } from "preact/hooks";

/** The address after `#/`: a screen, what is selected in it, and more. */
type Route = readonly string[];

function read(): Route {
  return location.hash
    .replace(/^#\/?/, "")
    .split("/")
    .map((part) => {
      try {
        return decodeURIComponent(part);
      } catch {
        return part;
      }
    });
}

export function useRoute(): Route {
  const [route, setRoute] = useState(read);
  // Before the browser paints: the address may change until then.
  useLayoutEffect(() => {
    const follow = (): void => setRoute(read());
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return route;
}

export function hrefOf(...route: Route): string {
  return `#/${route.map(encodeURIComponent).join("/")}`;
}

export function go(...route: Route): void {
  location.hash = hrefOf(...route);
}
