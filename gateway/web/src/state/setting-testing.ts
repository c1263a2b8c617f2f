// A setting for tests, with everything that a test does not care about.

import type { SettingView } from "../wire/rest";

export function setting(change: Partial<SettingView> = {}): SettingView {
  return {
    ...{ section: "gateway", key: "port", value: 8765, default: 8765, source: "default" },
    ...{ description: "The port.", type: "int", choices: null, restart: false },
    ...{ minimum: null, above: null, maximum: null, below: null },
    ...change,
  };
}
