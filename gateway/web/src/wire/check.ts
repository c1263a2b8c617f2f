// Is what came from outside what it should be? The checks that the generated files are made of.

/** Returns the value as its type, with defaults filled in; throws `Mismatch` where it is something else. */
export type Check<T> = (value: unknown, where: string) => T;

/** `where` is the place inside what was checked, such as `.turns[3].query`; empty for all of it. */
export class Mismatch extends Error {
  constructor(
    readonly where: string,
    readonly expected: string,
  ) {
    super(`${where || "it"}: expected ${expected}`);
  }
}

function primitive<T>(expected: string, is: (value: unknown) => value is T): Check<T> {
  return (value, where) => {
    if (is(value)) {
      return value;
    }
    throw new Mismatch(where, expected);
  };
}

export const anything: Check<unknown> = (value) => value;
export const text = primitive("text", (value) => typeof value === "string");
export const number = primitive("a number", (value) => typeof value === "number");
export const flag = primitive("true or false", (value) => typeof value === "boolean");
export const nothing = primitive("null", (value) => value === null);

export function only<const T extends readonly unknown[]>(...values: T): Check<T[number]> {
  const words = values.map((value) => JSON.stringify(value)).join(" or ");
  return primitive(words, (value): value is T[number] => values.includes(value));
}

export function oneOf<T extends readonly unknown[]>(
  ...checks: { [I in keyof T]: Check<T[I]> }
): Check<T[number]> {
  return (value, where) => {
    const said: string[] = [];
    for (const check of checks) {
      try {
        return check(value, where);
      } catch (error) {
        said.push(error instanceof Mismatch ? error.expected : String(error));
      }
    }
    throw new Mismatch(where, said.join(" or "));
  };
}

export function list<T>(check: Check<T>): Check<T[]> {
  return (value, where) => {
    if (!Array.isArray(value)) {
      throw new Mismatch(where, "a list");
    }
    return value.map((item, index) => check(item, `${where}[${index}]`));
  };
}

export function record<T>(check: Check<T>): Check<Record<string, T>> {
  return (value, where) => {
    if (!isObject(value)) {
      throw new Mismatch(where, "an object");
    }
    const entries = Object.entries(value);
    return Object.fromEntries(entries.map(([key, one]) => [key, check(one, `${where}.${key}`)]));
  };
}

/** Fields that are not named come from a newer server, and are left out. */
export function fields<T extends object>(shape: {
  readonly [K in keyof T]: Check<T[K]>;
}): Check<T> {
  const names = Object.keys(shape) as (keyof T & string)[];
  return (value, where) => {
    if (!isObject(value)) {
      throw new Mismatch(where, "an object");
    }
    const checked: Partial<T> = {};
    for (const name of names) {
      const own = Object.hasOwn(value, name) ? value[name] : undefined;
      checked[name] = shape[name](own, `${where}.${name}`);
    }
    return checked as T;
  };
}

/** What an older server does not say yet. */
export function withDefault<T>(check: Check<T>, fallback: T): Check<T> {
  return (value, where) => (value === undefined ? fallback : check(value, where));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
