// Which model answers in this chat? The default one, a better one, or any that is installed.

import { useState } from "react";

import { choicesOf, type ModelChoice, readModel, validModel, writeModel } from "../state/choices";
import type { AppState } from "../state/model";
import { useAppState } from "./context";

const modelsOf = (state: AppState) => state.models;

export function ModelPicker({ sessionId }: { sessionId: string | null }) {
  const models = useAppState(modelsOf);
  const [picked, setPicked] = useState(() => readModel(sessionId));
  const { roles, installed } = choicesOf(models);
  if (installed.length === 0) {
    return null;
  }
  const pick = (model: string) => {
    writeModel(sessionId, model);
    setPicked(model);
  };
  return (
    <select
      className="model-picker"
      aria-label="Model for this chat"
      title="Model for this chat"
      value={validModel(picked, models)}
      onChange={(event) => pick(event.target.value)}
    >
      <Options choices={roles} />
      <optgroup label="Installed">
        <Options choices={installed} />
      </optgroup>
    </select>
  );
}

function Options({ choices }: { choices: readonly ModelChoice[] }) {
  return choices.map(({ value, label, available }) => (
    <option key={label} value={value} disabled={!available}>
      {available ? label : `${label} (not installed)`}
    </option>
  ));
}
