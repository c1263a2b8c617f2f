// What colour has each word of a block of code? A chunk of its own, loaded with the first block.

import { toJsxRuntime } from "hast-util-to-jsx-runtime";
import { common, createLowlight } from "lowlight";
import type { ReactElement, ReactNode } from "react";
import { Fragment, jsx, jsxs } from "react/jsx-runtime";

const lowlight = createLowlight(common);

export function highlight(text: string, language: string): ReactNode {
  if (!lowlight.registered(language)) {
    return text;
  }
  const tree = lowlight.highlight(language, text);
  return toJsxRuntime(tree, { Fragment, jsx, jsxs }) as ReactElement;
}
