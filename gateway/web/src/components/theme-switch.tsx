// Which colours does the user want?

import { Monitor, Moon, Sun } from "lucide-react";
import { useState } from "react";

import { readTheme, type Theme, writeTheme } from "../state/theme";

const CHOICES = [
  { theme: "light", label: "Light", Icon: Sun },
  { theme: "system", label: "As the system", Icon: Monitor },
  { theme: "dark", label: "Dark", Icon: Moon },
] as const;

export function ThemeSwitch() {
  const [chosen, setChosen] = useState<Theme>(readTheme);
  const choose = (theme: Theme) => {
    writeTheme(theme);
    setChosen(theme);
  };
  return (
    <fieldset className="theme-switch">
      <legend className="visually-hidden">Colours</legend>
      {CHOICES.map(({ theme, label, Icon }) => (
        <label key={theme} title={label} data-chosen={theme === chosen}>
          <input
            type="radio"
            name="theme"
            className="visually-hidden"
            value={theme}
            checked={theme === chosen}
            onChange={() => choose(theme)}
          />
          <span className="visually-hidden">{label}</span>
          <Icon size={15} aria-hidden />
        </label>
      ))}
    </fieldset>
  );
}
