/**
 * The words of one entry, read from left to right. Every word that the parser asks for at a place is remembered, so that the
 * refusal of a wrong word can list all right ones. A `Refusal` never leaves `parsePlan`.
 */
import { timeHoursMax, wholeMicroseconds } from "./plan.ts";

export class Refusal extends Error {}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const timeMsMax = timeHoursMax * unitMs["h"]!;

export class Words {
  readonly #words: readonly string[];
  #at = 0;
  /** The words that would have fitted at this place. */
  readonly #tried = new Set<string>();

  constructor(text: string) {
    // "5s±1s", "5s +- 1s" and "5s +/-1s" are the same.
    const spaced = text.toLowerCase().replace(/±|\+\/?-/g, " ± ");
    this.#words = spaced.split(/\s+/).filter((word) => word !== "");
  }

  /** Steps over the word if it is the next one. */
  take(word: string): boolean {
    if (this.#words[this.#at] === word) {
      this.#advance();
      return true;
    }
    this.#tried.add(word);
    return false;
  }

  expect(word: string): void {
    if (!this.take(word)) this.fail();
  }

  oneOf<T extends string>(words: readonly T[]): T {
    return words.find((word) => this.take(word)) ?? this.fail();
  }

  /** A whole number from `least` on. */
  wholeNumber(least: number): number {
    return this.wholeNumberIfAny(least) ?? this.fail();
  }

  wholeNumberIfAny(least: number): number | null {
    const text = this.#match(/^\d+$/, "a whole number")?.[0];
    if (text === undefined) return null;
    const value = Number(text);
    if (value < least) throw new Refusal(`"${text}" is too small; the least is ${least}`);
    if (value > 0xffffffff) throw new Refusal(`"${text}" is too large; the most is ${0xffffffff}`);
    return value;
  }

  decimal(bounds: { readonly least: number; readonly most: number }): number {
    const text = this.#match(/^\d+(\.\d+)?$/, "a number")?.[0] ?? this.fail();
    const value = Number(text);
    if (value >= bounds.least && value <= bounds.most) return value;
    throw new Refusal(`"${text}" is out of range; give a number from ${bounds.least} to ${bounds.most}`);
  }

  /** In milliseconds. */
  time(leastMs = 0): number {
    return this.timeIfAny(leastMs) ?? this.fail();
  }

  timeIfAny(leastMs = 0): number | null {
    const match = this.#match(/^(\d+(?:\.\d+)?|\.\d+)(ms|s|m|h)$/, "a time with its unit (500ms, 3s, 1.5m, 2h)");
    if (match === null) return null;
    const ms = wholeMicroseconds(Number(match[1]) * unitMs[match[2]!]!);
    if (ms > timeMsMax) throw new Refusal(`"${match[0]}" is too long; the most is ${timeHoursMax}h`);
    if (ms < leastMs) throw new Refusal(`"${match[0]}" is too short; the least is ${leastMs}ms`);
    return ms;
  }

  /** The two ends of a link. */
  ends(): readonly [string, string] {
    const match = this.#match(/^(\d{1,9}|\*)-(\d{1,9}|\*)$/, "two nodes (0-2, 0-*)") ?? this.fail();
    return [match[1]!, match[2]!];
  }

  /** Refuses any further word. */
  end(): void {
    if (this.#at < this.#words.length) this.fail();
  }

  /** Refuses the next word, and lists the words that would have fitted. */
  fail(): never {
    const word = this.#words[this.#at];
    const found = word === undefined ? "it ends too early" : `"${word}" does not fit here`;
    const allowed = this.#tried.size === 0 ? "nothing more" : [...this.#tried].join(", ");
    throw new Refusal(`${found}; allowed: ${allowed}`);
  }

  #match(pattern: RegExp, what: string): RegExpExecArray | null {
    const match = pattern.exec(this.#words[this.#at] ?? "");
    if (match === null) this.#tried.add(what);
    else this.#advance();
    return match;
  }

  #advance(): void {
    this.#at++;
    this.#tried.clear();
  }
}
