/**
 * Random programs with a known right answer, free of deadlock by construction.
 *
 * A program is one global sequence of events (a message, a group of messages, a collective, …), dealt out to the ranks that
 * take part. Every rank meets its events in the order of the sequence, so the earliest event that is not over can always go
 * on: everybody it needs has come as far. Non-blocking calls wait at some later event; receives may be posted earlier than
 * their event, as long as the receives of one rank keep their order.
 *
 * Which receive takes which message is then known, because messages of a channel keep their order: with a named source also
 * for ANY_TAG. ANY_SOURCE appears in two places where any matching is right: in groups (several messages under a tag of their
 * own, and as many receives from anybody with that tag, posted together) and at the open ranks of a communicator (all
 * receives from anybody with any tag). Sends to those are waited for only at quiet points, where everybody waits for
 * everything and everybody: until then nobody knows when their turn comes.
 */
import { assert } from "../../core/base/assert.ts";
import { Random } from "../random.ts";
import type { Script } from "../script/script.ts";
import { Draft } from "./draft.ts";
import { families } from "./families.ts";
import type { Family } from "./family.ts";

export interface GeneratorOptions {
  readonly ranks: number;
  readonly events: number;
  /** Sizes around it are interesting. */
  readonly eagerBytesMax: number;
  /** Some ranks will die. Then the program has only events whose end is certain whoever is left, unless it revokes. */
  readonly deaths: Deaths;
  /** Families that are drawn much more often than usual, by their names. */
  readonly often?: readonly string[] | undefined;
  /**
   * Under a protocol for which it matters who sends to whom: may such a send be cancelled while it is received? None is then
   * cancelled that nobody receives.
   */
  readonly mayCancelSend?: (from: number, to: number) => boolean;
}

/**
 * What programs do about deaths: "none": there are none; "go-on": they take the errors of their requests and go on; "revoke":
 * so they do, but whoever sees an operation of several ranks fail revokes all its communicators, so all their ends are certain.
 */
export type Deaths = "none" | "go-on" | "revoke";

export function generate(random: Random, options: GeneratorOptions): Script {
  const draft = new Draft(random, options);
  const drawn = families
    .map((make) => make(draft))
    .filter(({ bearsDeaths }) => bearsDeaths || options.deaths !== "go-on")
    .map((family) =>
      options.often?.includes(family.name) === true ? { ...family, weight: 10 * family.weight } : family,
    );
  for (let event = 0; event < options.events; event++) {
    draw(random, drawn).deal(random.pick(draft.communicators));
    draft.someWaits();
  }
  draft.quiet();
  for (const family of drawn) family.end?.();
  for (const comm of draft.communicators.slice(1)) draft.free(comm);
  return draft.script();
}

/** All that can be drawn. */
export function familyNames(): string[] {
  const draft = new Draft(new Random(1), { ranks: 1, eagerBytesMax: 0 });
  return families.map((make) => make(draft).name);
}

function draw(random: Random, list: readonly Family[]): Family {
  let ticket = random.below(list.reduce((sum, { weight }) => sum + weight, 0));
  for (const family of list) {
    if (ticket < family.weight) return family;
    ticket -= family.weight;
  }
  assert(false, "a ticket beyond the last family");
}
