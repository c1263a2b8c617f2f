// What does a tool's card say of its calls? Tools without a row here are shown by the fallback.

import {
  Brain,
  Clock,
  FileText,
  Globe,
  GraduationCap,
  Library,
  type LucideIcon,
  MapPin,
  Search,
  UserRound,
  Wrench,
} from "lucide-react";

import { humanised } from "../state/words";
import type { ToolCallView } from "../wire/generated";

export interface ToolView {
  readonly icon: LucideIcon;
  /** What it does, in a few words. */
  readonly label: (call: ToolCallView) => string;
}

const views = new Map<string, ToolView>();

export function defineTool(name: string, icon: LucideIcon, label: string, argument?: string): void {
  views.set(name, {
    icon,
    label: (call) => {
      const value = argument === undefined ? undefined : call.args[argument];
      return typeof value === "string" && value !== "" ? `${label} “${shortened(value)}”` : label;
    },
  });
}

export function toolView(name: string): ToolView {
  return views.get(name) ?? { icon: Wrench, label: () => humanised(name) };
}

function shortened(text: string): string {
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

defineTool("get_datetime", Clock, "Date and time");
defineTool("get_location", MapPin, "Location");
defineTool("web_search", Globe, "Web search", "query");
defineTool("web_fetch", FileText, "Read page", "url");
defineTool("search_memory", Brain, "Search memory", "query");
defineTool("remember_this", Brain, "Remember", "fact");
defineTool("search_papers", GraduationCap, "Search papers", "query");
defineTool("search_library", Search, "Search library", "query");
defineTool("consult_librarian", Library, "Ask the librarian", "question");
defineTool("persona", UserRound, "Persona", "name");
