// How is one setting shown and changed? What is typed is a draft until the page's bar saves it.

import { RotateCcw } from "lucide-react";
import { useId } from "react";

import {
  asText,
  boundsWords,
  type Editor,
  editorOf,
  emptyWords,
  titleOf,
  valueWords,
} from "../state/setting-values";
import { savedText } from "../state/setting-changes";
import type { SettingView } from "../wire/rest";
import type { AppState } from "../state/model";
import { useAppState } from "./context";
import { WithCode } from "./with-code";

interface SettingRowProps {
  setting: SettingView;
  /** What was typed and not saved; undefined where nothing was. */
  draft: string | undefined;
  error: string | undefined;
  /** `null`: as it is saved. */
  onDraft: (text: string | null) => void;
}

export function SettingRow({ setting, draft, error, onDraft }: SettingRowProps) {
  const editor = editorOf(setting);
  const saved = savedText(setting);
  const text = draft ?? saved;
  const id = useId();
  const put = (next: string) => onDraft(next === saved ? null : next);
  const initial = asText(setting.default, editor);
  const variable = variableOf(setting);
  return (
    <div className="setting" data-editor={editor} data-changed={draft !== undefined}>
      <div className="setting-words">
        <label htmlFor={id}>{titleOf(setting)}</label> <code>{setting.key}</code>
        {draft !== undefined && <span className="changed-tag">not saved</span>}
        <div id={`${id}-about`}>
          <About setting={setting} variable={variable} />
        </div>
        {error !== undefined && (
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
          placeholder={emptyWords(setting)}
          disabled={variable !== ""}
          wrong={error !== undefined}
          choices={setting.choices?.map((choice) => asText(choice, editor)) ?? []}
          onChange={put}
        />
        {text !== initial && variable === "" && (
          <p className="setting-default">
            Default: <span dir="auto">{valueWords(setting.default, setting)}</span>
            <button
              type="button"
              className="link-button"
              aria-label={`Reset ${titleOf(setting)} to default`}
              onClick={() => put(initial)}
            >
              <RotateCcw size={12} aria-hidden /> Reset to default
            </button>
          </p>
        )}
      </div>
    </div>
  );
}

const commandOf = (state: AppState) => state.health?.command ?? "local2";

function About({ setting, variable }: { setting: SettingView; variable: string }) {
  const bounds = boundsWords(setting);
  const command = useAppState(commandOf);
  return (
    <>
      {setting.description !== "" && (
        <p>
          <WithCode text={setting.description} />
        </p>
      )}
      {bounds !== "" && <p>{bounds}</p>}
      {setting.restart && (
        <p>
          In force once LoCAL2 is started again: <code>{command} down</code>, then{" "}
          <code>{command} up</code>
        </p>
      )}
      {variable !== "" && (
        <p>
          The environment variable <code>{variable}</code> sets this; it goes first.
        </p>
      )}
    </>
  );
}

/** The variable that sets it, whatever is saved. */
function variableOf({ source }: SettingView): string {
  return source === "default" || source === "user" ? "" : source;
}

interface FieldProps {
  id: string;
  editor: Editor;
  text: string;
  placeholder: string;
  disabled: boolean;
  wrong: boolean;
  choices: readonly string[];
  onChange: (text: string) => void;
}

function Field({ editor, text, placeholder, wrong, choices, onChange, ...rest }: FieldProps) {
  const common = {
    ...rest,
    "aria-describedby": `${rest.id}-about`,
    "aria-invalid": wrong,
  };
  switch (editor) {
    case "switch":
      return (
        <input
          {...common}
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
          {...common}
          className="input"
          value={text}
          onChange={(event) => onChange(event.target.value)}
        >
          {choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      );
    case "long":
    case "json":
      return (
        <textarea
          {...common}
          className={editor === "json" ? "input code" : "input"}
          rows={Math.min(12, Math.max(2, rowsOf(text)))}
          spellCheck={editor === "long"}
          placeholder={placeholder}
          value={text}
          onChange={(event) => onChange(event.target.value)}
        />
      );
    default:
      return (
        <input
          {...common}
          className="input"
          inputMode={editor === "number" ? "decimal" : undefined}
          spellCheck={false}
          autoComplete="off"
          placeholder={placeholder}
          value={text}
          onChange={(event) => onChange(event.target.value)}
        />
      );
  }
}

const LINE_CHARS = 48;

function rowsOf(text: string): number {
  return text
    .split("\n")
    .reduce((rows, line) => rows + Math.max(1, Math.ceil(line.length / LINE_CHARS)), 0);
}
