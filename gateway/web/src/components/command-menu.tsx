// How is a slash command found? A list above the field: the field keeps the focus, and names the chosen option.

import { type KeyboardEvent, useId, useState } from "react";

import { commandsFor, completed, isWhole } from "../state/commands";
import type { CommandView } from "../wire/rest";
import { isComposing } from "./composing";

export interface CommandMenu {
  readonly commands: readonly CommandView[];
  readonly chosen: number;
  readonly listId: string;
  readonly optionId: (index: number) => string;
  readonly choose: (command: CommandView) => void;
  /** Whether the key was meant for the list. */
  readonly onKey: (event: KeyboardEvent) => boolean;
}

export function useCommandMenu(
  text: string,
  all: readonly CommandView[],
  onText: (text: string) => void,
): CommandMenu {
  const listId = useId();
  const [index, setIndex] = useState(0);
  // Escape closes the list for the text as it stands.
  const [closedFor, setClosedFor] = useState("");
  const commands = text === closedFor ? [] : commandsFor(text, all);
  const chosen = Math.min(index, commands.length - 1);

  const choose = (command: CommandView) => {
    onText(completed(command));
    setClosedFor(completed(command));
    setIndex(0);
  };
  const move = (by: number) => setIndex((chosen + by + commands.length) % commands.length);
  const onKey = (event: KeyboardEvent): boolean => {
    const command = commands[chosen];
    if (command === undefined || isComposing(event) || event.shiftKey) {
      return false;
    }
    switch (event.key) {
      case "ArrowDown":
        move(1);
        return true;
      case "ArrowUp":
        move(-1);
        return true;
      case "Enter":
        // Whole already: Enter sends it.
        if (isWhole(command, text)) {
          return false;
        }
        choose(command);
        return true;
      case "Tab":
        choose(command);
        return true;
      case "Escape":
        setClosedFor(text);
        return true;
      default:
        return false;
    }
  };
  return { commands, chosen, listId, optionId: (at) => `${listId}-${at}`, choose, onKey };
}

export function CommandList({ menu }: { menu: CommandMenu }) {
  const { commands, chosen, listId, optionId, choose } = menu;
  const open = commands.length > 0;
  return (
    <>
      <p className="visually-hidden" aria-live="polite">
        {open &&
          `${commands.length === 1 ? "1 command" : `${commands.length} commands`}. Arrow keys choose, Enter takes one.`}
      </p>
      {open && (
        <div id={listId} className="command-list" role="listbox" aria-label="Commands">
          {commands.map((command, index) => (
            // The keys are the field's, which keeps the focus.
            // eslint-disable-next-line jsx-a11y/click-events-have-key-events
            <div
              key={command.name}
              id={optionId(index)}
              role="option"
              tabIndex={-1}
              aria-selected={index === chosen}
              ref={index === chosen ? intoView : null}
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => choose(command)}
            >
              <code>{command.usage || `/${command.name}`}</code>
              <span>{command.help}</span>
            </div>
          ))}
        </div>
      )}
    </>
  );
}

function intoView(option: HTMLElement | null): void {
  option?.scrollIntoView({ block: "nearest" });
}
