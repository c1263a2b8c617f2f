// Which settings are there, and how are they changed?

import { useMemo, useState } from "react";

import { rest } from "../connection/rest";
import { humanised } from "../state/words";
import type { Setting } from "../wire/rest";
import { SettingRow } from "./setting-row";
import { usePolling } from "./use-polling";

export default function SettingsPage() {
  const { value, error, refresh } = usePolling(rest.settings, 0);
  const [wanted, setWanted] = useState("");
  const sections = useMemo(() => sectionsOf(value?.settings ?? [], wanted), [value, wanted]);
  return (
    <main className="page">
      <div className="page-column">
        <h1>Settings</h1>
        <p className="muted">
          What you change is kept in your own configuration folder, over the defaults.
        </p>
        {error !== "" && (
          <p className="page-error" role="alert">
            {error}
          </p>
        )}
        {value?.problems.map((problem) => (
          <p key={problem.section} className="page-error" role="alert">
            {problem.message}
          </p>
        ))}
        <input
          type="search"
          className="search"
          aria-label="Search the settings"
          placeholder="Search the settings"
          value={wanted}
          onChange={(event) => setWanted(event.target.value)}
        />
        {value !== null && sections.length === 0 && <p className="muted">Nothing found.</p>}
        {sections.map(([section, settings]) => (
          <section key={section} className="card" aria-labelledby={`section-${section}`}>
            <h2 id={`section-${section}`}>{humanised(section)}</h2>
            {settings.map((setting) => (
              <SettingRow
                // A saved value starts the row anew.
                key={`${setting.key} ${JSON.stringify(setting.value)}`}
                setting={setting}
                onSaved={refresh}
              />
            ))}
          </section>
        ))}
      </div>
    </main>
  );
}

export function sectionsOf(settings: readonly Setting[], wanted: string): [string, Setting[]][] {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const sections = new Map<string, Setting[]>();
  for (const setting of settings) {
    const text = `${setting.section} ${setting.key} ${setting.description}`.toLowerCase();
    if (words.every((word) => text.includes(word))) {
      sections.set(setting.section, [...(sections.get(setting.section) ?? []), setting]);
    }
  }
  return [...sections];
}
