// Which slash commands fit what is typed?

import type { CommandView } from "../wire/rest";

/** Those that begin with the word being typed; none once a blank follows it, or where none is begun. */
export function commandsFor(text: string, all: readonly CommandView[]): readonly CommandView[] {
  const word = /^\/(\S*)$/.exec(text)?.[1];
  if (word === undefined) {
    return [];
  }
  const begun = word.toLowerCase();
  return all.filter(({ name }) => name.toLowerCase().startsWith(begun));
}

/** The text once a command is chosen: with a blank where something has to follow. */
export function completed({ name, usage }: CommandView): string {
  return takesWords({ usage }) ? `/${name} ` : `/${name}`;
}

function takesWords({ usage }: Pick<CommandView, "usage">): boolean {
  return usage.trim().includes(" ");
}
