/**
 * Persistent sends and receives: a pair of requests that is started again and again, each time with other contents. A start is
 * an event of its own, so other events come between.
 */
import { SendMode } from "../../core/request/records.ts";
import type { CommunicatorPlan } from "../script/communicator-plan.ts";
import type { MessagePlan } from "../script/message-plan.ts";
import type { Draft } from "./draft.ts";
import type { MakeFamily } from "./family.ts";
import { pairOf } from "./messages.ts";
import { tellReady } from "./ready-sends.ts";

/** Common to a persistent send and the persistent receive that takes its messages. */
interface Pair {
  readonly comm: CommunicatorPlan;
  readonly pattern: Omit<MessagePlan, "number">;
  readonly room: number;
  readonly lentReceive: boolean;
  readonly sends: number;
  readonly receives: number;
  /** Their last start, which must be over before the next. */
  lastSend: readonly number[];
  lastReceive: readonly number[];
}

const pairsMax = 4;

export const persistentMessages: MakeFamily = (draft) => {
  const pairs: Pair[] = [];
  return {
    name: "persistent messages",
    weight: 8,
    bearsDeaths: true,
    deal(comm) {
      const { random } = draft;
      const isNew = pairs.length === 0 || (pairs.length < pairsMax && random.chance(0.3));
      const pair = isNew ? newPair(draft, comm) : random.pick(pairs);
      if (pair === null) return;
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

function newPair(draft: Draft, comm: CommunicatorPlan): Pair | null {
  const { random, choices } = draft;
  const { from, to } = pairOf(draft, comm);
  if (comm.open.has(from) || comm.open.has(to)) return null;
  const bytes = choices.bytes();
  const mode = from !== to && random.chance(0.2) ? SendMode.READY : choices.mode();
  return {
    comm,
    pattern: { communicator: comm.number, from, to, tag: random.below(4), bytes, mode, lent: choices.lent() },
    room: bytes + random.below(3),
    lentReceive: choices.lent(),
    sends: draft.newSeries(from),
    receives: draft.newSeries(to),
    lastSend: [],
    lastReceive: [],
  };
}

function start(draft: Draft, pair: Pair, isFirst: boolean): void {
  const { random } = draft;
  const { pattern, comm, sends, receives } = pair;
  const { communicator, from, to, tag } = pattern;
  const message = draft.message(pattern);
  const receive = draft.receive({
    communicator,
    at: to,
    source: from,
    tag,
    mayTake: [message],
    room: pair.room,
    lent: pair.lentReceive,
  });
  if (isFirst) {
    draft.act(from, { kind: "init-send", series: sends, message });
    draft.act(to, { kind: "init-receive", series: receives, receive });
  }
  draft.settle(from, pair.lastSend);
  draft.settle(to, pair.lastReceive);
  const received = draft.newRequest(to);
  const sent = draft.newRequest(from);
  // Blocking or not; a ready send must find its receive posted, and a rank that sends to itself must not wait before.
  const waitsForReceive = from !== to && pattern.mode !== SendMode.READY && random.chance(0.3);
  const waitsForSend = from !== to && random.chance(0.3);
  draft.act(to, { kind: "start-receive", series: receives, receive, request: received });
  draft.leaveOpen(to, received);
  if (waitsForReceive) draft.settle(to, [received]);
  draft.keepOrder(to);
  if (pattern.mode === SendMode.READY) tellReady(draft, comm, pattern);
  draft.act(from, { kind: "start-send", series: sends, message, request: sent });
  draft.leaveOpen(from, sent);
  if (waitsForSend) draft.settle(from, [sent]);
  pair.lastSend = [sent];
  pair.lastReceive = [received];
}
