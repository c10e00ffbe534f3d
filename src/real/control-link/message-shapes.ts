/**
 * The messages between the dispatcher and a node: for each its bound and its shape, in both directions. Ranks in a message
 * are ranks of the job, and in messages about the node's own ranks, ranks of that node; receivers need not check again.
 *
 * Values that only a protocol understands are checked by the shapes that it declares (core/ft/protocol-shapes.ts).
 */

import type { Terminals } from "../../core/base/terminals.ts";
import {
  bytes,
  dictionary,
  finite,
  flag,
  kind,
  list,
  object,
  oneOf,
  opaque,
  orNull,
  type Shape,
  type ShapesOf,
  text,
  whole,
  word,
} from "../../core/base/value-shape.ts";
import { protocolNamed } from "../../core/ft/protocol-named.ts";
import { noShapes, type ProtocolShapes } from "../../core/ft/protocol-shapes.ts";
import { sentInSetShape } from "../../core/ft/sent-in-set-shape.ts";
import type { NodeMap } from "../../core/process/node-map.ts";
import type { Origin, SpawnAnswer, SpawnCommand, SpawnRequest } from "../../core/process/spawner.ts";
import type { Ending } from "../../core/service/ending.ts";
import type { Placement } from "../../core/service/placement.ts";
import type { KeptNumbers } from "../../core/service/set-checkpoints.ts";
import type { CopiedRound } from "../cloning/messages.ts";
import type { FilesProof } from "../disk/same-files.ts";
import type { Bounds } from "../framing/value-frame.ts";
import type { LineChunk } from "../messages/lines.ts";
import type { CallsPassed, Life, RankRestart } from "../messages/lives.ts";
import type { CloneNews, FromNode, NewRank, RecoverySetup, Setup, ToNode } from "../messages/node-messages.ts";
import type { Folder, OtherProgram, ProgramPlace } from "../messages/program-place.ts";
import type { Captured, CaptureFacts, RankWord, Watch } from "../messages/rank-messages.ts";
import type { RankPlace } from "../messages/whereabouts.ts";
import type { Address } from "../transport/sockets/address.ts";
import type { TcpEvent } from "../transport/tcp/tcp-host.ts";

/** A few fields, or a few for each rank that there can be. */
const short = 4 << 20;
/** Messages with a part whose size a protocol or a program decides: choices to be replayed, arguments, a result. */
const long = 1 << 30;

export const toNodeBounds: Bounds<ToNode["kind"]> = {
  setup: long,
  contacts: short,
  run: short,
  "start-ranks": long,
  reserve: short,
  "reserve-memory": short,
  "end-ranks": short,
  "spawn-answer": short,
  written: short,
  input: short,
  death: short,
  left: short,
  returned: short,
  freeze: short,
  frozen: short,
  protocol: long,
  checkpoint: short,
  "checkpoint-servers": short,
  "go-on": short,
  oldest: short,
  "restart-ranks": long,
  "give-clone": short,
  "take-clone": short,
  "adopt-rank": short,
  "release-rank": short,
  "stay-rank": short,
  "drop-clone": short,
  "kill-ranks": short,
  "flip-bits": short,
  "go-on-after": short,
  links: short,
  where: short,
  dismissed: short,
  end: short,
};

export const fromNodeBounds: Bounds<FromNode["kind"]> = {
  ready: short,
  unable: short,
  connections: short,
  heartbeat: short,
  "ranks-ready": short,
  "rank-started": short,
  output: short,
  "rank-ended": short,
  "ranks-returned": short,
  clone: short,
  leaving: short,
  "from-rank": long,
  protocol: long,
  whereabouts: short,
  bye: short,
};

const count = whole(0, Number.MAX_SAFE_INTEGER);
/** Numbers of ranks, sets, nodes, lives, checkpoints, orders. */
const number32 = whole(0, 0x7fffffff);
const signed32 = whole(-0x80000000, 0xffffffff);
const port = whole(0, 65535);
const address = object<Address>({ host: text, port });
const folder = object<Folder>({ name: text, path: text });
const language = word("typescript", "c");
const program = object<ProgramPlace>({
  path: text,
  bundle: object<ProgramPlace["bundle"]>({ script: text, module: text, wasm: text }),
  args: list(text),
  language,
});

/** Nothing may be said for a protocol that there is not. */
const shapesOf = (protocol: string): ProtocolShapes => protocolNamed(protocol)?.shapes ?? noShapes;

/** Signs of life of a process that has offered itself and is not set up. It has no ranks. */
export const fromVolunteer: Pick<ShapesOf<FromNode>, "heartbeat"> = {
  heartbeat: object({
    kind: kind("heartbeat"),
    passed: list(object<CallsPassed>({ rank: count, calls: count }), 0),
    over: count,
    packets: count,
    usedMb: count,
  }),
};

/** Messages to a node that is not set up. */
export const toNewNode: Pick<ShapesOf<ToNode>, "reserve" | "reserve-memory" | "setup" | "dismissed" | "end"> = {
  reserve: object({ kind: kind("reserve") }),
  "reserve-memory": object({ kind: kind("reserve-memory"), memoryMb: number32, usedMb: number32 }),
  setup: (value) => setup(value) || protocolPartsOf(value as Setup),
  dismissed: object({ kind: kind("dismissed"), why: text }),
  end: object({ kind: kind("end") }),
};

const setup = object<Setup>({
  kind: kind("setup"),
  node: number32,
  ranks: number32,
  replicas: orNull(list(whole(1, 255))),
  hostName: orNull(text),
  placement: list(number32) as Shape<Placement>,
  nodeMap: list(number32) as Shape<NodeMap>,
  protocol: text,
  protocolOptions: dictionary(opaque),
  protocolPart: opaque,
  seed: signed32,
  beganMs: finite,
  program,
  others: list(object<OtherProgram>({ firstRank: number32, program })),
  sameFiles: orNull(object<FilesProof>({ machine: text, file: text, secret: text })),
  heartbeatMs: whole(1, 60_000),
  dispatcherQuietMs: whole(1, 0x7fffffff),
  heapMb: number32,
  memoryMb: number32,
  folders: list(folder),
  environment: orNull(dictionary(text)),
  isDebugged: flag,
  terminals: object<Terminals>({ stdin: flag, stdout: flag, stderr: flag }),
  freezeTo: text,
  thawFrom: text,
  mustFreeze: flag,
  isMoved: flag,
  absent: list(number32),
  ranksPerThread: number32,
  traceFolder: text,
  port,
  recovery: orNull(recoverySetup(number32)),
  watches: list(watch(number32)),
});

/** Problems of the parts of a setup that are the protocol's, which the setup names. */
function protocolPartsOf({ protocol, protocolPart, recovery }: Setup): string {
  const { forNode, forRanks } = shapesOf(protocol);
  const parts = object<Pick<Setup, "protocolPart"> & { readonly data: readonly unknown[] }>({
    protocolPart: forNode,
    data: list(forRanks),
  });
  return parts({ protocolPart, data: recovery?.restarts.map(({ data }) => data) ?? [] });
}

function recoverySetup(rank: Shape<number>, data: Shape<unknown> = opaque): Shape<RecoverySetup> {
  return object<RecoverySetup>({
    setOf: list(number32),
    incarnations: list(number32),
    checkpointFolder: text,
    checkpointServers: list(orNull(address)),
    beganMs: finite,
    startsEmpty: flag,
    restarts: list(object<RankRestart>({ rank, incarnation: number32, checkpoint: number32, data })),
  });
}

function watch(rank: Shape<number>): Shape<Watch> {
  return object<Watch>({ rank, call: count, init: flag });
}

/** Facts of a job that the shapes of its messages depend on. */
export interface NodePlace {
  /** How many processes the job can have. */
  readonly processes: number;
  /** The processes of this node. */
  readonly here: readonly number[];
  /** Are the lost started again? */
  readonly recovers: boolean;
  /** The name of the job's protocol. */
  readonly protocol: string;
}

/** Messages that come only where the lost are started again. */
type RecoveryMessage =
  | "checkpoint-servers"
  | "oldest"
  | "restart-ranks"
  | "give-clone"
  | "take-clone"
  | "drop-clone"
  | "adopt-rank"
  | "release-rank"
  | "stay-rank";

/** Messages to a node that is set up. */
export function toNodeShapes({ processes, here, recovers, protocol }: NodePlace): Partial<ShapesOf<ToNode>> {
  const { forNode, toNode, forRanks } = shapesOf(protocol);
  const rank = whole(0, processes - 1);
  const own = oneOfThese(here);
  const ranks = list(rank);
  const owns = list(own);
  const life = object<Life>({ rank, incarnation: number32 });
  const origin = object<Origin>({ parents: ranks, context: signed32, count, world: ranks, command: number32 });
  const recovery: Pick<ShapesOf<ToNode>, RecoveryMessage> = {
    "checkpoint-servers": object({ kind: kind("checkpoint-servers"), addresses: list(orNull(address)) }),
    oldest: object({ kind: kind("oldest"), set: number32, number: number32, position: count }),
    "restart-ranks": object({
      kind: kind("restart-ranks"),
      ranks: owns,
      recovery: recoverySetup(own, forRanks),
      protocolPart: forNode,
      watches: list(watch(own)),
    }),
    "give-clone": object({ kind: kind("give-clone"), rank: own, number: number32, isMoved: flag }),
    "take-clone": object({ kind: kind("take-clone"), rank: own, number: number32, source: rank, from: list(address) }),
    "drop-clone": object({ kind: kind("drop-clone"), rank: own }),
    "adopt-rank": object({ kind: kind("adopt-rank"), rank }),
    "release-rank": object({ kind: kind("release-rank"), rank: own, incarnation: number32 }),
    "stay-rank": object({ kind: kind("stay-rank"), rank: own, incarnation: number32 }),
  };
  const always: Omit<ShapesOf<ToNode>, RecoveryMessage | "reserve" | "reserve-memory" | "setup"> = {
    contacts: object({ kind: kind("contacts"), addresses: list(orNull(address), processes) }),
    run: object({ kind: kind("run"), form: word("script", "module", "wasm"), packages: list(text) }),
    "start-ranks": object({
      kind: kind("start-ranks"),
      order: number32,
      ranks: list(object<NewRank>({ rank: own, program, folders: list(folder), origin })),
    }),
    "end-ranks": object({ kind: kind("end-ranks"), ranks: owns }),
    "spawn-answer": object({
      kind: kind("spawn-answer"),
      rank: own,
      answer: oneOf<SpawnAnswer>({
        spawned: object({ kind: kind("spawned"), children: ranks }),
        refused: object({ kind: kind("refused"), why: text }),
        later: object({ kind: kind("later") }),
      }),
    }),
    written: object({ kind: kind("written"), bytes: count }),
    input: object({ kind: kind("input"), rank: own, offset: count, bytes: orNull(bytes) }),
    death: object({ kind: kind("death"), order: number32, rank, incarnation: number32 }),
    left: object({ kind: kind("left"), rank }),
    returned: object({ kind: kind("returned"), ranks: list(life) }),
    freeze: object({ kind: kind("freeze") }),
    checkpoint: object({
      kind: kind("checkpoint"),
      set: number32,
      members: ranks,
      number: number32,
      kept: object<KeptNumbers>({ oldest: number32, newest: number32 }),
    }),
    "go-on": object({ kind: kind("go-on"), set: number32, members: ranks }),
    frozen: object({ kind: kind("frozen"), isGood: flag }),
    protocol: object({ kind: kind("protocol"), words: toNode }),
    "kill-ranks": object({ kind: kind("kill-ranks"), ranks: owns }),
    "flip-bits": object({ kind: kind("flip-bits"), rank: own, bits: count, seed: count }),
    "go-on-after": object({ kind: kind("go-on-after"), rank: own, call: count }),
    links: object({ kind: kind("links"), ranks, areCut: flag }),
    dismissed: object({ kind: kind("dismissed"), why: text }),
    where: object({ kind: kind("where"), number: number32 }),
    end: object({ kind: kind("end") }),
  };
  return recovers ? { ...always, ...recovery } : always;
}

/** Messages from a node that is set up. */
export function fromNodeShapes({ processes, here, protocol }: Omit<NodePlace, "recovers">): ShapesOf<FromNode> {
  const rank = whole(0, processes - 1);
  const own = oneOfThese(here);
  return {
    ready: object({ kind: kind("ready"), build: text, address: orNull(address) }),
    unable: object({ kind: kind("unable"), why: text }),
    connections: object({
      kind: kind("connections"),
      event: oneOf<TcpEvent>({
        stranger: object({ kind: kind("stranger"), reason: text }),
        unreachable: object({ kind: kind("unreachable"), from: own, to: rank, forMs: finite, reason: text }),
        "bad-frame": object({ kind: kind("bad-frame"), from: own, to: rank, reason: text }),
      }),
    }),
    heartbeat: object({
      kind: kind("heartbeat"),
      passed: list(object<CallsPassed>({ rank: own, calls: count })),
      over: number32,
      packets: count,
      usedMb: number32,
    }),
    "ranks-ready": object({ kind: kind("ranks-ready"), order: number32, problem: text }),
    "rank-started": object({ kind: kind("rank-started"), rank: own, incarnation: number32 }),
    output: object({
      kind: kind("output"),
      rank: own,
      chunk: object<LineChunk>({ stream: word("stdout", "stderr"), number: count, offset: count, bytes, flush: flag }),
    }),
    "rank-ended": object({ kind: kind("rank-ended"), rank: own, incarnation: number32, ending }),
    "ranks-returned": object({
      kind: kind("ranks-returned"),
      ranks: list(object<Life>({ rank: own, incarnation: number32 })),
    }),
    clone: object({ kind: kind("clone"), rank: own, number: number32, news: cloneNews }),
    leaving: object({ kind: kind("leaving") }),
    "from-rank": object({ kind: kind("from-rank"), rank: own, message: rankWord(rank, shapesOf(protocol)) }),
    protocol: object({ kind: kind("protocol"), words: shapesOf(protocol).fromNode }),
    whereabouts: object({ kind: kind("whereabouts"), number: number32, places: list(placeOf(own)) }),
    bye: object({ kind: kind("bye") }),
  };
}

const copiedRound = object<CopiedRound>({ pages: count, ms: finite });
const cloneNews = oneOf<CloneNews>({
  listening: object({ kind: kind("listening"), addresses: list(address) }),
  copied: object({ kind: kind("copied"), rounds: list(copiedRound) }),
  left: object({ kind: kind("left"), last: copiedRound }),
  arrived: object({ kind: kind("arrived"), bytes: count }),
  failed: object({ kind: kind("failed"), problem: text }),
});

function placeOf(rank: Shape<number>): Shape<RankPlace> {
  return object<RankPlace>({
    rank,
    state: word("starting", "computing", "waiting", "over"),
    forMs: finite,
    wait: signed32,
    polls: signed32,
    call: text,
    kind: word("receive", "send", "probe", "collective", "other"),
    peer: signed32,
    tag: signed32,
    comm: text,
    requests: signed32,
    isOneEnough: flag,
    isUnmatched: flag,
    isBlocked: flag,
    hasDelivered: flag,
    hasEnded: flag,
  });
}

const ending = oneOf<Ending>({
  returned: object({ kind: kind("returned") }),
  frozen: object({ kind: kind("frozen") }),
  exited: object({ kind: kind("exited"), code: finite }),
  finalized: object({ kind: kind("finalized"), code: finite }),
  threw: object({ kind: kind("threw"), what: text, details: list(text), frames: list(text) }),
  signalled: object({ kind: kind("signalled"), signal: number32, name: text, why: text, frames: list(text) }),
  "gave-up": object({ kind: kind("gave-up"), why: text }),
  aborted: object({ kind: kind("aborted"), code: finite, message: text, ranks: list(number32) }),
  starved: object({ kind: kind("starved") }),
  unfinished: object({ kind: kind("unfinished"), requests: count }),
  "out-of-memory": object({ kind: kind("out-of-memory"), heapMb: finite }),
  vanished: object({ kind: kind("vanished"), code: finite }),
});

function rankWord(rank: Shape<number>, { fromRank, report }: ProtocolShapes): Shape<Captured | RankWord> {
  const incarnation = number32;
  const facts: { readonly [F in keyof CaptureFacts]: Shape<CaptureFacts[F]> } = {
    number: number32,
    position: count,
    callsPassed: count,
    inputOffset: count,
    settledMs: finite,
    needs: list(number32),
    sent: list(sentInSetShape),
  };
  const command = object<SpawnCommand>({
    command: text,
    args: list(text),
    processes: number32,
    path: text,
    folder: text,
  });
  return oneOf<Captured | RankWord>({
    captured: object({ kind: kind("captured"), ...facts }),
    image: object({ kind: kind("image"), ...facts, problem: text }),
    abort: object({ kind: kind("abort"), code: finite, message: text, members: list(number32) }),
    result: object({ kind: kind("result"), value: bytes }),
    spawn: object({
      kind: kind("spawn"),
      request: object<SpawnRequest>({ commands: list(command), parents: list(rank), context: signed32, count }),
    }),
    "input-wanted": object({ kind: kind("input-wanted"), offset: count }),
    stopped: object({ kind: kind("stopped"), number: number32 }),
    report: object({ kind: kind("report"), report }),
    unfinalized: object({ kind: kind("unfinalized") }),
    done: object({ kind: kind("done"), incarnation }),
    "checkpoint-wanted": object({ kind: kind("checkpoint-wanted"), incarnation }),
    protocol: object({ kind: kind("protocol"), words: fromRank }),
    "caught-up": object({ kind: kind("caught-up"), incarnation }),
    "stands-still": object({ kind: kind("stands-still"), call: count }),
    "image-unreadable": object({ kind: kind("image-unreadable"), checkpoint: number32, problem: text }),
    "leads-out": object({ kind: kind("leads-out"), path: text, target: text }),
  });
}

function oneOfThese(numbers: readonly number[]): Shape<number> {
  const known = new Set(numbers);
  return (value) => (known.has(value as number) ? "" : "is no rank of this node");
}
