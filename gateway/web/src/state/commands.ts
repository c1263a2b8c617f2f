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

/** Whether the text names the command in full, and nothing has to follow: what stands in brackets need not. */
export function isWhole({ name, usage }: CommandView, text: string): boolean {
  const needed = /<[^>]+>/.test(usage.replace(/\[[^\]]*\]/g, ""));
  return !needed && text.toLowerCase() === `/${name.toLowerCase()}`;
}

/** How the command that stands in the text is used, while what follows it is not there yet; else empty. */
export function usageOf(text: string, all: readonly CommandView[]): string {
  const word = /^\/(\S+)\s+$/.exec(text)?.[1]?.toLowerCase();
  const command = all.find(({ name }) => name.toLowerCase() === word);
  return command === undefined ? "" : `${command.usage}: ${command.help}`;
}

function takesWords({ usage }: Pick<CommandView, "usage">): boolean {
  return usage.trim().includes(" ");
}
