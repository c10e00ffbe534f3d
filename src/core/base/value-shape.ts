/**
 * Checks of values that come from another process, made before anything acts on them. A shape is a function that says what is wrong with
 * a value, the empty text if nothing. `T` is the type of the values that pass, so that a message and its shape cannot drift apart: a
 * field that the shape does not name does not compile.
 */
export type Shape<T> = ((value: unknown) => string) & { readonly passes?: T };

type Kinded = { readonly kind: string };
/** A shape for each kind of a union. */
export type ShapesOf<T extends Kinded> = { readonly [K in T["kind"]]: Shape<Extract<T, { kind: K }>> };

const good = "";

/** An integer. */
export const whole =
  (min: number, max: number): Shape<number> =>
  (value) =>
    Number.isInteger(value) && (value as number) >= min && (value as number) <= max
      ? good
      : `is no whole number from ${min} to ${max}`;

/** Any number but NaN and the infinities. */
export const finite: Shape<number> = (value) => (Number.isFinite(value) ? good : "is no finite number");

export const text: Shape<string> = (value) => (typeof value === "string" ? good : "is no text");

export const flag: Shape<boolean> = (value) => (typeof value === "boolean" ? good : "is neither true nor false");

export const bytes: Shape<Uint8Array> = (value) => (value instanceof Uint8Array ? good : "is no bytes");

export const int32s: Shape<Int32Array> = (value) => (value instanceof Int32Array ? good : "is no list of 32-bit words");

/** Any value: its reader checks it. */
export const opaque: Shape<unknown> = () => good;

export const word =
  <const T extends string>(...words: readonly T[]): Shape<T> =>
  (value) =>
    words.includes(value as T) ? good : `is none of ${words.join(", ")}`;

export const orNull =
  <T>(shape: Shape<T>): Shape<T | null> =>
  (value) =>
    value === null ? good : shape(value);

/** A field that may be missing. */
export const orAbsent =
  <T>(shape: Shape<T>): Shape<T | undefined> =>
  (value) =>
    value === undefined ? good : shape(value);

/** No value at all: of a field that this sender never fills. */
export const absent: Shape<undefined> = (value) => (value === undefined ? good : "is there, and should not be");

/** `length`: exactly so many; any number unless given. */
export const list =
  <T>(shape: Shape<T>, length?: number): Shape<readonly T[]> =>
  (value) => {
    if (!Array.isArray(value)) return "is no list";
    if (length !== undefined && value.length !== length) return `has ${value.length} entries, not ${length}`;
    for (let i = 0; i < value.length; i++) {
      const problem = shape(value[i]);
      if (problem !== good) return inside(`[${i}]`, problem);
    }
    return good;
  };

/** An object with any fields, all of one shape. */
export const dictionary =
  <T>(shape: Shape<T>): Shape<Readonly<Record<string, T>>> =>
  (value) => {
    if (!isObject(value)) return "is no object";
    for (const name of Object.keys(value)) {
      const problem = shape(value[name]);
      if (problem !== good) return inside(`.${name}`, problem);
    }
    return good;
  };

/** An object with these fields and no others. A field may be missing where its shape lets undefined pass. */
export const object =
  <T>(fields: { readonly [F in keyof T]-?: Shape<T[F]> }): Shape<T> =>
  (value) => {
    if (!isObject(value)) return "is no object";
    const names = Object.keys(fields) as (keyof T & string)[];
    for (const name of names) {
      const isThere = Object.hasOwn(value, name);
      const problem = fields[name](isThere ? value[name] : undefined);
      if (problem !== good) return isThere ? inside(`.${name}`, problem) : `has no ${name}`;
    }
    const stranger = Object.keys(value).find((name) => !Object.hasOwn(fields, name));
    return stranger === undefined ? good : `has a field ${JSON.stringify(stranger.slice(0, 50))}, which there is not`;
  };

/** An object of a union whose members differ in `kind`. */
export const oneOf =
  <T extends Kinded>(shapes: ShapesOf<T>): Shape<T> =>
  (value) => {
    const kind = isObject(value) ? value["kind"] : undefined;
    if (typeof kind !== "string" || !Object.hasOwn(shapes, kind)) return "is of no known kind";
    return (shapes as Readonly<Record<string, Shape<unknown>>>)[kind]!(value);
  };

/** The field `kind` of an object of a union: `oneOf` has chosen the shape by it. */
export const kind = <const K extends string>(name: K): Shape<K> => word(name);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** ".rank is no whole number", "[3].rank is …". */
const inside = (path: string, problem: string): string =>
  problem.startsWith(".") || problem.startsWith("[") ? `${path}${problem}` : `${path} ${problem}`;
