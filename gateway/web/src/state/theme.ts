// Which colours does the page have? The key and the values are those of public/theme.js.

export type Theme = "light" | "dark" | "system";

const KEY = "local2.theme";

export function readTheme(): Theme {
  const chosen = document.documentElement.dataset["theme"];
  return chosen === "light" || chosen === "dark" ? chosen : "system";
}

export function writeTheme(theme: Theme): void {
  const { dataset } = document.documentElement;
  if (theme === "system") {
    delete dataset["theme"];
  } else {
    dataset["theme"] = theme;
  }
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    return;
  }
}
