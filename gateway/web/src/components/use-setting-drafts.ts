// How does the settings page hold what was not saved, and how is it saved?

import { useState, useSyncExternalStore } from "react";

import { messageOf, rest } from "../connection/rest";
import { changesOf, idOf, refusedId, type Words } from "../state/setting-changes";
import { type Drafts, settingDrafts, without } from "../state/setting-drafts";
import type { SettingView } from "../wire/rest";

export interface Saving {
  readonly drafts: Drafts;
  readonly count: number;
  readonly errors: Words;
  readonly busy: boolean;
  readonly put: (setting: SettingView, text: string | null) => void;
  readonly save: () => Promise<void>;
  readonly discard: () => void;
}

export function useSettingDrafts(
  settings: readonly SettingView[],
  reload: () => Promise<void>,
): Saving {
  const drafts = useSyncExternalStore(settingDrafts.subscribe, settingDrafts.get);
  const [errors, setErrors] = useState<Words>({});
  const [busy, setBusy] = useState(false);

  const save = async () => {
    setBusy(true);
    const { saved, errors: refused } = await saveAll(settings, drafts);
    // Until the new values are here, the drafts are what stands.
    await reload();
    saved.forEach((id) => settingDrafts.put(id, null));
    setErrors(refused);
    setBusy(false);
  };
  return {
    drafts,
    count: Object.keys(drafts).length,
    errors,
    busy,
    put: (setting, text) => {
      settingDrafts.put(idOf(setting), text);
      setErrors((known) => without(known, idOf(setting)));
    },
    save,
    discard: () => {
      settingDrafts.clear();
      setErrors({});
    },
  };
}

/** What can be saved is; a draft that cannot stays, with the words why. */
async function saveAll(
  settings: readonly SettingView[],
  drafts: Drafts,
): Promise<{ saved: readonly string[]; errors: Words }> {
  const { changes, wrong } = changesOf(settings, drafts);
  const errors: Record<string, string> = { ...wrong };
  const saved: string[] = [];
  for (const [section, values] of Object.entries(changes)) {
    const keys = Object.keys(values);
    try {
      await rest.changeSettings(section, values);
      saved.push(...keys.map((key) => idOf({ section, key })));
    } catch (error) {
      errors[refusedId(section, keys, messageOf(error))] = messageOf(error);
    }
  }
  return { saved, errors };
}
