/** Line icons on a grid of 16, drawn for this page. */
const paths = {
  overview: "M2.500 9.500 5.500 6l3 3 5-5.500M2.500 13.500h11",
  servers: "M2.500 3h11v4h-11zM2.500 9h11v4h-11zM5 5h.01M5 11h.01",
  review:
    "M8 1.800 13 4v4c0 3-2.200 5.200-5 6.200C5.200 13.200 3 11 3 8V4zM5.800 8l1.600 1.600 3-3.200",
  approvals: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 5v3.200l2 1.300",
  tools:
    "M9.800 2.600a3.400 3.400 0 0 0-3.300 4.700L2.600 11.200a1.500 1.500 0 0 0 2.200 2.200l3.900-3.900a3.400 3.400 0 0 0 4.500-4.200L11.200 7.300 9 7 8.700 4.800l2-2a3.400 3.400 0 0 0-.9-.2z",
  calls: "M2.500 4h6M2.500 8h11M5.500 12h8",
  agents:
    "M8 2.500a2.500 2.500 0 1 0 0 5 2.500 2.500 0 0 0 0-5zM3 13.500c.5-2.500 2.500-4 5-4s4.500 1.500 5 4",
  code: "M5.500 4.500 2 8l3.500 3.500M10.500 4.500 14 8l-3.500 3.500",
  workflow: "M2.500 3h3v10h-3zM6.800 3h3v6h-3zM11 3h3v8h-3z",
  audit: "M4 2h6l3 3v9H4zM10 2v3h3M6 8h5M6 11h5",
  settings: "M2.500 4.500h6M11.500 4.500h2M10 3v3M2.500 11.500h2M7.500 11.500h6M6 10v3",
  search: "M7 2.500a4.500 4.500 0 1 0 0 9 4.500 4.500 0 0 0 0-9zM10.300 10.300 13.500 13.500",
  plus: "M8 3v10M3 8h10",
  menu: "M2.500 4.500h11M2.500 8h11M2.500 11.500h11",
  close: "M4 4l8 8M12 4l-8 8",
  check: "M3 8.500 6.500 12 13 4.500",
  copy: "M5.500 5.500h8v8h-8zM3 10.500h-.500v-8h8V3",
  sun: "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM8 1.500v1M8 13.500v1M1.500 8h1M13.500 8h1M3.400 3.400l.7.7M11.900 11.900l.7.7M12.600 3.400l-.7.7M4.100 11.900l-.7.7",
  moon: "M13 9.500A5.500 5.500 0 0 1 6.500 3a5.500 5.500 0 1 0 6.500 6.500z",
  display: "M2 3h12v8H2zM6 13.500h4M8 11v2.500",
  exit: "M6 2.500H3v11h3M10 5l3 3-3 3M13 8H6",
  arrow: "M6 3.500 10.500 8 6 12.500",
  warning: "M8 2.500 14 13H2zM8 6.500V9.500M8 11.300h.01",
  play: "M5 3.500v9l7-4.500z",
  stop: "M4 4h8v8H4z",
  restart: "M12.500 6A5 5 0 1 0 13 8.500M13 3v3h-3",
  external: "M9 3h4v4M13 3 7.500 8.500M11.500 9.500v3.500H3V4.500h3.500",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}
