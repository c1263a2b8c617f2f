// How is one setting shown and changed?

import { type SyntheticEvent, useId, useState } from "react";

import { messageOf, rest } from "../connection/rest";
import type { Setting } from "../wire/rest";
import { WithCode } from "./chips";

export type Editor = "switch" | "choice" | "number" | "text" | "json";

export function editorOf(setting: Setting): Editor {
  const { type, value } = setting;
  if (setting.choices !== null) {
    return "choice";
  }
  if (typeof value === "boolean" || type.startsWith("bool")) {
    return "switch";
  }
  if (typeof value === "number" || /^(int|float|number)/.test(type)) {
    return "number";
  }
  const text = typeof value === "string" || (value === null && /^(str|path)/.test(type));
  return text ? "text" : "json";
}

export function asText(value: unknown, editor: Editor): string {
  if (editor === "json" || typeof value === "object") {
    return value === null ? "" : JSON.stringify(value, null, 2);
  }
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The value that a text stands for; throws with words where it stands for none. */
export function fromText(text: string, editor: Editor, setting: Setting): unknown {
  if (text.trim() === "" && editor !== "text") {
    return null;
  }
  switch (editor) {
    case "switch":
      return text === "true";
    case "number":
      return numberOf(text);
    case "choice":
      return setting.choices?.find((choice) => asText(choice, editor) === text);
    case "text":
      return text === "" && setting.value === null ? null : text;
    case "json":
      return jsonOf(text);
  }
}

function numberOf(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value)) {
    throw new Error(`“${text}” is not a number.`);
  }
  return value;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Error("This is not valid JSON: check its quotes, commas and brackets.");
  }
}

export function SettingRow({ setting, onSaved }: { setting: Setting; onSaved: () => void }) {
  const editor = editorOf(setting);
  const saved = asText(setting.value, editor);
  const [text, setText] = useState(saved);
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  const id = useId();

  // One move of the hand chooses and means it; what is typed waits for Save.
  const immediate = editor === "switch" || editor === "choice";

  const save = async (next: () => unknown) => {
    setBusy(true);
    try {
      await rest.changeSetting(setting.section, setting.key, next());
      setError("");
      onSaved();
    } catch (reason) {
      setError(messageOf(reason));
      if (immediate) {
        setText(saved);
      }
    }
    setBusy(false);
  };
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    void save(() => fromText(text, editor, setting));
  };
  const choose = (next: string) => {
    setText(next);
    void save(() => fromText(next, editor, setting));
  };
  const changed = JSON.stringify(setting.value) !== JSON.stringify(setting.default);
  return (
    <form className="setting" data-editor={editor} onSubmit={submit}>
      <div className="setting-words">
        <label htmlFor={id}>
          <code>{setting.key}</code>
        </label>
        {changed && <span className="changed-tag">{sourceWords(setting.source)}</span>}
        {setting.description !== "" && (
          <p>
            <WithCode text={setting.description} />
          </p>
        )}
        {rangeWords(setting) !== "" && <p className="muted">{rangeWords(setting)}</p>}
        {error !== "" && (
          <p className="field-error" role="alert">
            {error}
          </p>
        )}
      </div>
      <div className="setting-field">
        <Field
          id={id}
          editor={editor}
          text={text}
          choices={setting.choices?.map((choice) => asText(choice, editor)) ?? []}
          onChange={immediate ? choose : setText}
        />
        <div className="setting-actions">
          {text !== saved && !immediate && (
            <>
              <button type="submit" className="button primary small" disabled={busy}>
                Save
              </button>
              <button
                type="button"
                className="button small"
                onClick={() => {
                  setText(saved);
                  setError("");
                }}
              >
                Undo
              </button>
            </>
          )}
          {changed && text === saved && (
            <button
              type="button"
              className="link-button"
              disabled={busy}
              title={`Back to ${asText(setting.default, editor)}`}
              onClick={() => void save(() => setting.default)}
            >
              Use the default
            </button>
          )}
        </div>
      </div>
    </form>
  );
}

function rangeWords({ minimum, maximum }: Setting): string {
  if (minimum === null) {
    return maximum === null ? "" : `Up to ${maximum}.`;
  }
  return maximum === null ? `From ${minimum}.` : `From ${minimum} to ${maximum}.`;
}

function sourceWords(source: string): string {
  return source === "" || source === "user" ? "changed" : `set by ${source}`;
}

interface FieldProps {
  id: string;
  editor: Editor;
  text: string;
  choices: readonly string[];
  onChange: (text: string) => void;
}

function Field({ id, editor, text, choices, onChange }: FieldProps) {
  switch (editor) {
    case "switch":
      return (
        <input
          id={id}
          type="checkbox"
          role="switch"
          className="switch"
          aria-checked={text === "true"}
          checked={text === "true"}
          onChange={(event) => onChange(String(event.target.checked))}
        />
      );
    case "choice":
      return (
        <select
          id={id}
          className="input"
          value={text}
          onChange={(event) => onChange(event.target.value)}
        >
          {choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      );
    case "json":
      return (
        <textarea
          id={id}
          className="input code"
          rows={Math.min(8, text.split("\n").length)}
          spellCheck={false}
          value={text}
          onChange={(event) => onChange(event.target.value)}
        />
      );
    default:
      return (
        <input
          id={id}
          className="input"
          inputMode={editor === "number" ? "decimal" : undefined}
          spellCheck={false}
          value={text}
          onChange={(event) => onChange(event.target.value)}
        />
      );
  }
}
