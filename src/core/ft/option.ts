/** An option that a protocol adds to `banyan run` and to `launch`. */
export interface ProtocolOption {
  /** In the options of `launch`. */
  readonly key: string;
  /** On the command line. */
  readonly flag: string;
  readonly help: string;
  readonly form: OptionForm;
  /** The message when the option is given to a job under another protocol; `owners`: the protocols that have it. */
  elsewhere(owners: string): string;
}

/** What stands behind a flag, and how it becomes a value. */
export type OptionForm =
  | { readonly kind: "whole number" }
  /** In milliseconds; or one of the words, as it is. */
  | { readonly kind: "time"; readonly words: readonly string[] }
  | { readonly kind: "text" }
  /** Nothing: it is given, and true, or not. */
  | { readonly kind: "flag" }
  /** One of the words, as it is; or a file, whose contents mean something. */
  | {
      readonly kind: "words or file";
      /** What is in such a file. */
      readonly what: string;
      readonly words: readonly string[];
      /** The value; a string: what is wrong with the contents. */
      parse(contents: string, ranks: number): object | string;
    };

/** By key, as far as they were given. Plain data. */
export type OptionValues = Readonly<Record<string, unknown>>;

export const isWhole = (value: unknown, min: number, max: number): value is number =>
  Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
