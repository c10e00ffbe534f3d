/**
 * Random programs with a known right answer, free of deadlock by construction.
 *
 * A program is one global sequence of events (a message, a group of messages, a collective, …), dealt out to the ranks that
 * take part. Every rank meets its events in the order of the sequence, so the earliest unfinished event can always go on: all
 * its ranks have come as far. Non-blocking calls wait at some later event; receives may be posted earlier than their event, as
 * long as the receives of one rank keep their order.
 *
 * The receive of each message is then known, because messages of a channel keep their order: with a named source also for
 * ANY_TAG. ANY_SOURCE appears in two places where any matching is right: in groups (several messages under a tag of their own,
 * and as many receives from any source with that tag, posted together) and at the open ranks of a communicator (all receives
 * from any source with any tag). Sends to open ranks are waited for only at quiet points, where every rank waits for all its
 * requests and for all ranks: until then the time of their receives is unknown.
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
  /** Sizes around this limit are interesting. */
  readonly eagerBytesMax: number;
  /**
   * Some ranks will die. Then the program has only events whose result is certain whichever ranks are left, unless it revokes.
   */
  readonly deaths: Deaths;
  /** Families that are drawn much more often than usual, by their names. */
  readonly often?: readonly string[] | undefined;
  /** Families that are not drawn. */
  readonly without?: readonly string[] | undefined;
  /**
   * For protocols to which the pair of ranks matters: may a send between these two be cancelled while it is received? Sends
   * without a receive are then not cancelled.
   */
  readonly mayCancelSend?: (from: number, to: number) => boolean;
  /** For protocols that do not: then no receive is from ANY_SOURCE. */
  readonly takesAnySource?: boolean;
}

/**
 * A program's reaction to deaths: "none": there are none; "go-on": ranks take the errors of their requests and go on; "revoke":
 * the same, but a rank that sees an operation of several ranks fail revokes all its communicators, so all their results are
 * certain.
 */
export type Deaths = "none" | "go-on" | "revoke";

export function generate(random: Random, options: GeneratorOptions): Script {
  const draft = new Draft(random, { ...options, hasDeaths: options.deaths !== "none" });
  const drawn = families
    .map((make) => make(draft))
    .filter(({ name, bearsDeaths, bearsRevocation = true }) => {
      const bears = { none: true, "go-on": bearsDeaths, revoke: bearsRevocation }[options.deaths];
      return bears && options.without?.includes(name) !== true;
    })
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

/** All families that can be drawn. */
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
