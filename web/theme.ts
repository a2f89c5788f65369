/** The page's colours: light, dark, or the system's setting. Kept in the browser. */
export type Theme = "system" | "light" | "dark";

const key = "guildhall.theme";
const themes: readonly Theme[] = ["system", "light", "dark"];

export function readTheme(): Theme {
  const kept = localStorage.getItem(key);
  return themes.find((theme) => theme === kept) ?? "system";
}

export function applyTheme(theme: Theme = readTheme()): void {
  localStorage.setItem(key, theme);
  document.documentElement.dataset.theme = theme;
}

export function nextTheme(theme: Theme): Theme {
  return themes[(themes.indexOf(theme) + 1) % themes.length] ?? "system";
}
