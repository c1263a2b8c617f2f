// Which component shows a part? A new kind of part is one `definePart` in its own file.

import type { ComponentType } from "react";

import type { Part } from "../state/parts";
import { UnknownPart } from "./unknown";

export type PartOf<K extends Part["kind"]> = Extract<Part, { kind: K }>;

/** What every part has, whatever else it holds. */
export interface AnyPart {
  readonly kind: string;
  readonly key: string;
}

type PartView = ComponentType<{ part: never }>;

const views = new Map<string, PartView>();

export function definePart<K extends Part["kind"]>(
  kind: K,
  view: ComponentType<{ part: PartOf<K> }>,
): void {
  views.set(kind, view as PartView);
}

export function viewOf(kind: string): ComponentType<{ part: AnyPart }> {
  return (views.get(kind) ?? UnknownPart) as ComponentType<{ part: AnyPart }>;
}
