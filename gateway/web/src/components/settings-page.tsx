// Which settings are there, and how are they changed?

import { useEffect, useMemo, useState } from "react";

import { rest } from "../connection/rest";
import { idOf } from "../state/setting-changes";
import { settingDrafts } from "../state/setting-drafts";
import { type Group, groupsOf } from "../state/setting-groups";
import { useClient } from "./context";
import { SettingRow } from "./setting-row";
import { usePolling } from "./use-polling";
import { type Saving, useSettingDrafts } from "./use-setting-drafts";
import { WebSwitch } from "./web-switch";

const NONE: readonly never[] = [];

export default function SettingsPage() {
  const { value, error, refresh } = usePolling(rest.settings, 0);
  const [wanted, setWanted] = useState("");
  const settings = value?.settings ?? NONE;
  const groups = useMemo(() => groupsOf(settings, wanted), [settings, wanted]);
  const saving = useSettingDrafts(settings, refresh);
  useWordOnLeaving();
  const found = groups.first.length + groups.tools.length + groups.advanced.length > 0;
  return (
    <main className="page">
      <div className="page-column">
        <h1>Settings</h1>
        <p className="muted">
          What you change is kept in your own configuration folder, over the defaults.
        </p>
        {[error, ...(value?.problems.map(({ message }) => message) ?? [])]
          .filter(Boolean)
          .map((message) => (
            <p key={message} className="page-error" role="alert">
              {message}
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
        {value !== null && !found && <p className="muted">Nothing found.</p>}
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void saving.save();
          }}
        >
          {groups.first.map((group) => (
            <Card key={group.name} group={group} saving={saving} />
          ))}
          {value !== null && (groups.tools.length > 0 || wanted === "") && (
            <Tools groups={groups.tools} saving={saving} withWeb={wanted === ""} />
          )}
          {groups.advanced.length > 0 && (
            // Another key once something is searched: what was found has to be seen.
            <details key={String(wanted !== "")} className="advanced" open={wanted !== ""}>
              <summary>Advanced</summary>
              {groups.advanced.map((group) => (
                <Card key={group.name} group={group} saving={saving} />
              ))}
            </details>
          )}
          {saving.count > 0 && <SaveBar saving={saving} />}
        </form>
      </div>
    </main>
  );
}

function Card({ group, saving }: { group: Group; saving: Saving }) {
  return (
    <section className="card" aria-labelledby={`section-${group.name}`}>
      <h2 id={`section-${group.name}`}>{group.title}</h2>
      <Rows group={group} saving={saving} />
    </section>
  );
}

interface ToolsProps {
  groups: readonly Group[];
  saving: Saving;
  withWeb: boolean;
}

function Tools({ groups, saving, withWeb }: ToolsProps) {
  return (
    <section className="card" aria-labelledby="section-tools">
      <h2 id="section-tools">Tools</h2>
      {withWeb && <WebSwitch />}
      {groups.map((group) => (
        <details key={`${group.name} ${withWeb}`} className="tool-settings" open={!withWeb}>
          <summary>{group.title}</summary>
          <Rows group={group} saving={saving} />
        </details>
      ))}
    </section>
  );
}

function Rows({ group, saving }: { group: Group; saving: Saving }) {
  return group.settings.map((setting) => (
    <SettingRow
      key={setting.key}
      setting={setting}
      draft={saving.drafts[idOf(setting)]}
      error={saving.errors[idOf(setting)]}
      onDraft={(text) => saving.put(setting, text)}
    />
  ));
}

function SaveBar({ saving }: { saving: Saving }) {
  const { count, errors, busy } = saving;
  const wrong = Object.keys(errors).length;
  return (
    <div className="save-bar" role="region" aria-label="Unsaved changes">
      <p role="status">
        {count === 1 ? "1 change is not saved" : `${count} changes are not saved`}
        {wrong > 0 && <span className="field-error">; {wrong} cannot be: see above</span>}
      </p>
      <button type="button" className="button" disabled={busy} onClick={saving.discard}>
        Discard
      </button>
      <button type="submit" className="button primary" disabled={busy}>
        Save
      </button>
    </div>
  );
}

function useWordOnLeaving(): void {
  const client = useClient();
  useEffect(
    () => () => {
      if (Object.keys(settingDrafts.get()).length > 0) {
        client.notice(
          "Your changes to the settings are not saved. They wait on the settings page.",
        );
      }
    },
    [client],
  );
}
