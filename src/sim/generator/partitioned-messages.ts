/**
 * Partitioned messages (MPI 5.0 chapter 4): a pair of requests that is started again and again; each message leaves when its
 * sender has declared every part ready, in any order. Pairs with one tag are matched by the order in which they were made.
 */
import { SendMode } from "../../core/request/records.ts";
import type { CommunicatorPlan } from "../script/communicator-plan.ts";
import type { MessagePlan } from "../script/message-plan.ts";
import type { Draft } from "./draft.ts";
import type { MakeFamily } from "./family.ts";
import { pairOf } from "./messages.ts";

interface Pair {
  readonly pattern: Omit<MessagePlan, "number">;
  readonly room: number;
  readonly parts: number;
  /** The number of earlier pairs between these ranks with that tag. */
  readonly call: number;
  readonly sends: number;
  readonly receives: number;
  /** Their last start, which must be over before the next. */
  lastSend: readonly number[];
  lastReceive: readonly number[];
}

const pairsMax = 3;
const partsMax = 5;

export const partitionedMessages: MakeFamily = (draft) => {
  const pairs: Pair[] = [];
  const calls = new Map<string, number>();
  const newPair = (comm: CommunicatorPlan): Pair => {
    const { random, choices } = draft;
    const { from, to } = pairOf(draft, comm);
    // A tag of their own: no other message competes with them, whatever the checkers take to be one pattern.
    const tag = 100 + random.below(2);
    const key = `${comm.number} ${from} ${to} ${tag}`;
    const call = calls.get(key) ?? 0;
    calls.set(key, call + 1);
    const bytes = choices.bytes();
    return {
      pattern: { communicator: comm.number, from, to, tag, bytes, mode: SendMode.STANDARD, lent: choices.lent() },
      room: bytes + random.below(3),
      parts: random.between(1, partsMax),
      call,
      sends: draft.newSeries(from),
      receives: draft.newSeries(to),
      lastSend: [],
      lastReceive: [],
    };
  };
  return {
    name: "partitioned messages",
    weight: 6,
    bearsDeaths: true,
    deal(comm) {
      const { random } = draft;
      const isNew = pairs.length === 0 || (pairs.length < pairsMax && random.chance(0.4));
      const pair = isNew ? newPair(comm) : random.pick(pairs);
      start(draft, pair, isNew);
      if (isNew) pairs.push(pair);
    },
    end() {
      for (const { pattern, sends, receives } of pairs) {
        draft.act(pattern.from, { kind: "free-series", series: sends });
        draft.act(pattern.to, { kind: "free-series", series: receives });
      }
    },
  };
};

function start(draft: Draft, pair: Pair, isFirst: boolean): void {
  const { random } = draft;
  const { pattern, call, parts, sends, receives } = pair;
  const { communicator, from, to, tag, lent } = pattern;
  const message = draft.message(pattern);
  const source = { at: to, source: from, tag, mayTake: [message] };
  const receive = draft.receive({ communicator, ...source, room: pair.room, lent });
  if (isFirst) {
    draft.act(from, { kind: "init-parts", series: sends, message, parts, call });
    draft.act(to, { kind: "init-all-parts", series: receives, receive, call });
  }
  draft.settle(from, pair.lastSend);
  draft.settle(to, pair.lastReceive);
  const received = draft.newRequest(to);
  const sent = draft.newRequest(from);
  draft.act(to, { kind: "start-receive", series: receives, receive, request: received });
  draft.leaveOpen(to, received);
  draft.act(from, { kind: "start-send", series: sends, message, request: sent });
  for (const part of random.shuffle(Array.from({ length: parts }, (_, index) => index))) {
    draft.act(from, { kind: "ready", series: sends, part });
    if (random.chance(0.3)) draft.act(from, { kind: "compute", forNs: random.below(10_000) });
  }
  draft.leaveOpen(from, sent);
  if (from !== to && random.chance(0.3)) draft.settle(to, [received]);
  pair.lastSend = [sent];
  pair.lastReceive = [received];
}
