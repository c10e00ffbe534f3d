/**
 * What every protocol promises, as cases that every protocol passes, whatever it does with sends: messages come once, whole
 * and in order; the protocol is told what happens to them; a "not yet" holds what it is about and nothing else; a death and a
 * return of a peer lose nothing. A case runs a small scripted world and throws when a promise is broken. Pure: who runs the
 * suite brings the worlds (the simulator has them, `src/sim`).
 *
 * A protocol is run in each of its layouts (`ConformanceLayout`). `RecordingProtocol` is put around it: cases look at what it
 * was told, and cases with gates check that the engine does what the contract says with a "not yet".
 */
import { assert } from "../../base/assert.ts";
import type { RecordId } from "../../base/brand.ts";
import type { ProtocolDefinition } from "../definition.ts";
import { passThrough } from "../pass-through.ts";
import type { NewProtocol } from "../protocol.ts";
import { type RecordedCall, Recording, RecordingProtocol } from "../recording-protocol.ts";

/** Sizes are by name: a world knows which size takes which way. */
export type MessageSize = "eager" | "rendezvous";
const sizes: readonly MessageSize[] = ["eager", "rendezvous"];

interface ConformanceMessage {
  readonly from: number;
  readonly to: number;
  readonly size: MessageSize;
  readonly tag?: number;
  readonly context?: number;
  readonly isSynchronous?: boolean;
}

/** A world in which tests start messages by hand. Contents are checked by the world when a receive ends. */
export interface ConformanceWorld {
  send(message: ConformanceMessage): RecordId;
  /** Without a source: from any. */
  receive(wanted: { at: number; source?: number; tag?: number; context?: number }): RecordId;
  /** Lets everything happen that can happen; hooks that said "not yet" are asked again. */
  settle(): void;
  isComplete(rank: number, request: RecordId): boolean;
  /** Ends a complete receive: the tag of the message it got. Throws when its contents are wrong, or it has an error. */
  end(rank: number, request: RecordId): number;
  /** Did that request, which is complete, fail because its peer is dead? */
  hasFailed(rank: number, request: RecordId): boolean;
  /** The process of that rank dies, the first of those that play it, and the others are told. */
  kill(rank: number): void;
  /** Its next life begins, with that protocol and without an image, and the others are told. */
  revive(rank: number, protocol: NewProtocol, data: unknown): void;
}

/** One way to set up a protocol, for instance which ranks fall together. */
export interface ConformanceLayout {
  readonly name: string;
  /** It takes a while, and other layouts show most of it. */
  readonly isSlow?: boolean;
  /** The protocols of a new world. */
  protocols(ranks: number): ConformanceProtocols;
}

export interface ConformanceProtocols {
  /** Does the next life of a rank take the place of one that was lost? */
  readonly comeBack: boolean;
  /** Do others play the rank of a dead process? Then a death ends no request. */
  readonly areCovered?: boolean;
  /** How many processes play each rank, all of which run its program; one unless given. */
  readonly replicas?: number;
  /** The protocol of the present life of a rank, or of that of its replicas. */
  make(rank: number, replica: number): NewProtocol;
  /** For `begin` of a life that is not the first. */
  dataFor(rank: number): unknown;
  /** Services outside the processes do what they have to do: true when that changed anything. */
  advance(): boolean;
  /** Does the protocol take the sends of that rank to that other one? Otherwise it lets the engine send them. */
  takes(from: number, to: number): boolean;
  /** How many messages the protocol of that rank has taken, by its own account; null: a process is dead, and it counts others. */
  taken(rank: number): number | null;
}

/** The processes of a world, and what is outside them. */
export interface ConformanceParts {
  readonly ranks: number;
  readonly replicas: number;
  protocolOf(rank: number, replica: number): NewProtocol;
  advance(): boolean;
}

interface ConformanceSetup {
  readonly layout: ConformanceLayout;
  world(parts: ConformanceParts): ConformanceWorld;
}

export interface ConformanceCase {
  readonly name: string;
  /** Ranks of its world. */
  readonly ranks: number;
  /** Why it does not apply to that layout; null: it does. */
  skip?(protocols: ConformanceProtocols): string | null;
  run(place: Place): void;
}

/** A world of recorded processes: the first ones of those that play a rank. */
export interface Place {
  readonly world: ConformanceWorld;
  readonly at: RecordingProtocol[];
  readonly protocols: ConformanceProtocols;
}

/** Runs a case; the reason if it does not apply. */
export function runConformance(aCase: ConformanceCase, { layout, world }: ConformanceSetup): string | null {
  const protocols = layout.protocols(aCase.ranks);
  const reason = aCase.skip?.(protocols) ?? null;
  if (reason !== null) return reason;
  const at: RecordingProtocol[] = [];
  const protocolOf = (rank: number, replica: number): NewProtocol =>
    replica === 0 ? recorded(protocols, rank, at) : protocols.make(rank, replica);
  const { replicas = 1 } = protocols;
  const made = world({ ranks: aCase.ranks, replicas, protocolOf, advance: () => protocols.advance() });
  const place = { world: made, at, protocols };
  aCase.run(place);
  for (const rank of at.keys()) checkTaken(place, rank);
  return null;
}

/** The protocol of a rank, with what it is told in `at`. */
function recorded(protocols: ConformanceProtocols, rank: number, at: RecordingProtocol[]): NewProtocol {
  const inner = protocols.make(rank, 0);
  return (ports) => {
    const recording = new RecordingProtocol(inner(ports), new Recording(), ports.records);
    at[rank] = recording;
    return recording;
  };
}

/** Of a protocol that passes on every send, and needs nothing outside its processes. */
export const plainLayout = ({ deaths, rank: newRank }: ProtocolDefinition): ConformanceLayout => ({
  name: "as it is",
  protocols: (ranks) => ({
    comeBack: deaths === "replaced",
    make: (rank) => {
      const [setOf, passed] = [new Int32Array(ranks), new Float64Array(1)];
      return newRank?.({ rank, replica: 0, ranks, setOf, passed, options: {}, resources: undefined }) ?? passThrough;
    },
    dataFor: () => undefined,
    advance: () => false,
    takes: () => false,
    taken: () => 0,
  }),
});

/** The protocol has taken the sends that the layout says it takes: the case went the way that it is meant for. */
function checkTaken({ at, protocols }: Place, rank: number): void {
  const posted = at[rank]!.calls.filter(({ hook }) => hook === "sendPosted");
  for (const { source: to, answer } of posted) {
    const wanted = protocols.takes(rank, to);
    assert(answer === wanted, `a send of rank ${rank} to ${to} was ${wanted ? "not " : ""}taken by its protocol`);
  }
  const taken = posted.filter(({ answer }) => answer === true).length;
  const counted = protocols.taken(rank);
  if (counted === null) return;
  expect(counted, taken, `the number of messages that the protocol of rank ${rank} says it has taken`);
}

const asked: readonly RecordedCall["hook"][] = ["sendMayLeave", "sendMayComplete"];

/** The hooks that were called, one word each, "not yet" left out and repeated questions once. */
function story(calls: readonly RecordedCall[]): string {
  const told = calls.filter(({ hook, answer }) => !(asked.includes(hook) && answer === false));
  return told.map(({ hook }) => hook).join(" ");
}

function expect<T>(actual: T, wanted: T, what: string): void {
  assert(actual === wanted, `${what} is ${String(actual)}, wanted is ${String(wanted)}`);
}

/** Calls of one hook about messages of one sender. */
function told(recorded: RecordingProtocol, hook: RecordedCall["hook"], source: number): RecordedCall[] {
  return recorded.calls.filter((call) => call.hook === hook && call.source === source && call.answer !== false);
}

/** The case is about sends among these ranks that the engine sends. */
const passedOnAmong =
  (ranks: readonly number[]) =>
  (protocols: ConformanceProtocols): string | null =>
    ranks.some((from) => ranks.some((to) => protocols.takes(from, to)))
      ? "the protocol sends these messages itself"
      : null;

/** Cases about a death need a survivor that does not fall with the dead. */
const lastFalls = 2;

/** Promises about messages that hold for every sender. */
const messages: readonly ConformanceCase[] = [
  {
    name: "a message is received once, whole, and its send completes; the receiver's protocol hears of each step once",
    ranks: 2,
    run({ world, at }) {
      let sequence = 0;
      for (const size of sizes) {
        for (const isEarly of [true, false]) {
          const early = isEarly ? world.receive({ at: 1, source: 0 }) : null;
          const send = world.send({ from: 0, to: 1, size, tag: sequence });
          world.settle();
          const receive = early ?? world.receive({ at: 1, source: 0 });
          world.settle();
          expect(world.end(1, receive), sequence, "the message");
          assert(world.isComplete(0, send), "the send is not complete");
          for (const hook of ["arrived", "matched", "held"] as const) {
            const calls = told(at[1]!, hook, 0).filter((call) => call.sequence === sequence);
            expect(calls.length, 1, `how often the protocol was told that message ${sequence} was ${hook}`);
            if (hook === "matched") expect(calls[0]!.request, receive, "the receive that took it");
          }
          sequence++;
        }
      }
      expect(at[0]!.calls.filter(({ hook }) => hook === "sendPosted").length, sequence, "the number of sends posted");
    },
  },
  {
    name: "a wildcard receive: matched tells which message it was",
    ranks: 3,
    run({ world, at }) {
      const receives = [world.receive({ at: 1 }), world.receive({ at: 1 })];
      world.send({ from: 2, to: 1, size: "eager", tag: 2 });
      world.settle();
      world.send({ from: 0, to: 1, size: "rendezvous", tag: 0 });
      world.settle();
      const matched = at[1]!.calls.filter(({ hook }) => hook === "matched");
      expect(matched.map(({ source }) => source).join(), "2,0", "the sources of the matches");
      expect(matched.map(({ request }) => request).join(), receives.join(), "the receives of the matches");
      receives.forEach((receive, index) => {
        expect(world.end(1, receive), matched[index]!.source, "the tag, which is the sender's rank,");
      });
    },
  },
  {
    name: "messages of a channel are numbered from 0 in program order, over all contexts, and arrive in that order (rule 1)",
    ranks: 3,
    run({ world, at }) {
      for (let i = 0; i < 6; i++) {
        const size = i % 3 === 0 ? "rendezvous" : "eager";
        world.send({ from: 0, to: 1, size, context: 2 + 2 * (i % 2) });
        world.send({ from: 0, to: 2, size: "eager" });
      }
      world.settle();
      for (const rank of [1, 2]) {
        const numbers = told(at[rank]!, "arrived", 0).map(({ sequence }) => sequence);
        expect(numbers.join(), "0,1,2,3,4,5", `the numbers that arrived at rank ${rank}`);
      }
    },
  },
  {
    name: "messages of a sender do not overtake each other, whatever their sizes, posted early or late",
    ranks: 3,
    run({ world }) {
      const receives = [0, 1, 2].map(() => world.receive({ at: 1, source: 0 }));
      const sends = [0, 1, 2, 3, 4, 5].map((tag) => world.send({ from: 0, to: 1, size: sizes[tag % 2]!, tag }));
      world.send({ from: 2, to: 1, size: "eager", tag: 9 });
      world.settle();
      receives.push(...[3, 4, 5].map(() => world.receive({ at: 1, source: 0 })));
      world.settle();
      receives.forEach((receive, tag) => {
        expect(world.end(1, receive), tag, "the next message");
      });
      assert(
        sends.every((send) => world.isComplete(0, send)),
        "a send is not complete",
      );
    },
  },
  {
    name: "a synchronous send is complete when its receive is there, and not before",
    ranks: 2,
    run({ world }) {
      for (const size of sizes) {
        const send = world.send({ from: 0, to: 1, size, isSynchronous: true });
        world.settle();
        assert(!world.isComplete(0, send), "a synchronous send is complete without a receive");
        const receive = world.receive({ at: 1, source: 0 });
        world.settle();
        world.end(1, receive);
        assert(world.isComplete(0, send), "a synchronous send that was received is not complete");
      }
    },
  },
  {
    name: "a message that arrived says no to is dropped before matching, and the next one comes",
    ranks: 2,
    skip: ({ replicas = 1 }) => (replicas > 1 ? "the other replicas of the receiver take the message" : null),
    run({ world, at }) {
      at[1]!.gates.mayArrive = (_, sequence) => sequence !== 1;
      const receives = [world.receive({ at: 1 }), world.receive({ at: 1 })];
      for (const tag of [10, 11, 12]) world.send({ from: 0, to: 1, size: "eager", tag });
      world.settle();
      expect(receives.map((receive) => world.end(1, receive)).join(), "10,12", "the messages that were received");
      const heldOrMatched = at[1]!.calls.filter(({ hook }) => hook === "held" || hook === "matched");
      assert(!heldOrMatched.some(({ sequence }) => sequence === 1), "a dropped message was held or matched");
    },
  },
  {
    name: "output that may not leave yet may leave in the end, and stays so",
    ranks: 2,
    run({ world, at }) {
      const receive = world.receive({ at: 1 });
      world.send({ from: 0, to: 1, size: "eager", tag: 3 });
      world.settle();
      world.end(1, receive);
      const line = { kind: "line", number: 1 } as const;
      at[1]!.writeMayLeave(line);
      world.settle();
      for (let times = 0; times < 2; times++) assert(at[1]!.writeMayLeave(line), "a line may not leave at last");
    },
  },
];

/** What the engine does with sends that the protocol passes on, hook by hook. */
const passedOn: readonly ConformanceCase[] = [
  {
    name: "hooks of an eager message into a posted receive",
    ranks: 2,
    skip: passedOnAmong([0, 1]),
    run({ world, at }) {
      const receive = world.receive({ at: 1, source: 0 });
      const send = world.send({ from: 0, to: 1, size: "eager" });
      world.settle();
      world.end(1, receive);
      assert(world.isComplete(0, send), "the send is not complete");
      expect(story(at[0]!.calls), "sendPosted sendMayLeave sendMayComplete", "what the sender's protocol heard");
      expect(story(at[1]!.calls), "receivePosted arrived matched held seen", "what the receiver's protocol heard");
    },
  },
  {
    name: "hooks of an eager message that comes before its receive: held first, then matched",
    ranks: 2,
    skip: passedOnAmong([0, 1]),
    run({ world, at }) {
      world.send({ from: 0, to: 1, size: "eager" });
      world.settle();
      expect(story(at[1]!.calls), "arrived held", "what the receiver's protocol heard");
      world.end(1, world.receive({ at: 1, source: 0 }));
      expect(story(at[1]!.calls), "arrived held receivePosted matched seen", "what the receiver's protocol heard");
    },
  },
  ...(["send", "receive"] as const).map(
    (first): ConformanceCase => ({
      name: `hooks of a rendezvous, the ${first} first: held when all bytes are there, once`,
      ranks: 2,
      skip: passedOnAmong([0, 1]),
      run({ world, at }) {
        const early = first === "receive" ? world.receive({ at: 1, source: 0 }) : null;
        const send = world.send({ from: 0, to: 1, size: "rendezvous" });
        world.settle();
        const receive = early ?? world.receive({ at: 1, source: 0 });
        world.settle();
        world.end(1, receive);
        assert(world.isComplete(0, send), "the send is not complete");
        expect(story(at[0]!.calls), "sendPosted sendMayLeave sendMayComplete", "what the sender's protocol heard");
        const begin = first === "receive" ? "receivePosted arrived" : "arrived receivePosted";
        expect(story(at[1]!.calls), `${begin} matched held seen`, "what the receiver's protocol heard");
      },
    }),
  ),
  ...sizes.map(
    (size): ConformanceCase => ({
      name: `"not yet" in sendMayLeave holds that message (${size}) and those behind it in its channel, and nothing else`,
      ranks: 3,
      skip: passedOnAmong([0, 1, 2]),
      run({ world, at }) {
        let closed = true;
        const held = new Set<number>();
        at[0]!.gates.mayLeave = (send) => {
          if (held.size === 0) held.add(send);
          return !(closed && held.has(send));
        };
        const sends = [0, 1, 2].map((tag) => world.send({ from: 0, to: 1, size, tag }));
        world.send({ from: 0, to: 2, size: "eager", tag: 7 });
        // While it is held, traffic the other way goes on, what its receiver must answer in the held channel too.
        world.send({ from: 1, to: 0, size: "rendezvous", tag: 8 });
        const other = world.receive({ at: 0, source: 1, tag: 8 });
        world.settle();
        expect(told(at[1]!, "arrived", 0).length, 0, "the number of messages that arrived at rank 1");
        expect(told(at[2]!, "arrived", 0).length, 1, "the number of messages that arrived at rank 2");
        assert(!sends.some((send) => world.isComplete(0, send)), "a send that must not leave is complete");
        assert(world.isComplete(0, other), "a large message to the process that holds one back does not come");
        world.end(0, other);
        closed = false;
        world.settle();
        const receives = sends.map(() => world.receive({ at: 1, source: 0 }));
        world.settle();
        receives.forEach((receive, tag) => {
          expect(world.end(1, receive), tag, "the next message");
        });
        assert(
          sends.every((send) => world.isComplete(0, send)),
          "a send that may leave is not complete",
        );
      },
    }),
  ),
  ...sizes.map(
    (size): ConformanceCase => ({
      name: `"not yet" in sendMayComplete holds the completion, not the message (${size})`,
      ranks: 2,
      skip: passedOnAmong([0, 1]),
      run({ world, at }) {
        let closed = true;
        at[0]!.gates.mayComplete = () => !closed;
        const send = world.send({ from: 0, to: 1, size, tag: 4 });
        const receive = world.receive({ at: 1, source: 0 });
        world.settle();
        expect(world.end(1, receive), 4, "the message");
        assert(!world.isComplete(0, send), "a send that must not complete is complete");
        closed = false;
        world.settle();
        assert(world.isComplete(0, send), "a send that may complete is not complete");
        const yes = at[0]!.calls.filter(({ hook, answer }) => hook === "sendMayComplete" && answer === true);
        expect(yes.length, 1, "the number of times the answer was yes");
      },
    }),
  ),
];

const deaths: readonly ConformanceCase[] = [
  {
    name: "the death of a peer, for good: requests that name it end, and no others",
    ranks: 3,
    skip: ({ comeBack, areCovered }) => {
      if (comeBack) return "the dead come back, and a death ends no request";
      return areCovered === true ? "others play the rank of the dead, and a death ends no request" : null;
    },
    run({ world }) {
      const [dead, alive] = [world.receive({ at: 0, source: lastFalls }), world.receive({ at: 0, source: 1 })];
      const send = world.send({ from: 0, to: lastFalls, size: "rendezvous" });
      world.settle();
      world.kill(lastFalls);
      world.settle();
      assert(world.hasFailed(0, dead) && world.hasFailed(0, send), "a request that names the dead did not fail");
      assert(!world.isComplete(0, alive), "a request that names a living rank is complete");
      world.send({ from: 1, to: 0, size: "eager", tag: 6 });
      world.settle();
      expect(world.end(0, alive), 6, "the message of the living rank");
    },
  },
  {
    name: "the death and the return of a peer: its next life gets every message again, in order, and the others lose none and get none twice",
    ranks: 3,
    skip(protocols) {
      if (!protocols.comeBack) return "the dead do not come back";
      return protocols.takes(0, lastFalls) ? null : "all ranks fall together";
    },
    run({ world, at, protocols }) {
      const survivors = [0, 1];
      // What each survivor sends: two messages that the first life takes, and two under way when it dies.
      const post = (from: number, tags: readonly number[]): RecordId[] =>
        tags.map((tag) => world.send({ from, to: lastFalls, size: sizes[tag % 2]!, tag }));
      const sends = survivors.map((from) => post(from, [0, 1]));
      const live = (): void => {
        for (const source of survivors) {
          for (const tag of [0, 1]) {
            const receive = world.receive({ at: lastFalls, source });
            world.settle();
            expect(world.end(lastFalls, receive), tag, `the message of rank ${source} in its life`);
          }
          world.send({ from: lastFalls, to: source, size: "eager", tag: 20 });
        }
        world.settle();
      };
      live();
      const taken = survivors.map((rank) => world.receive({ at: rank, source: lastFalls }));
      world.settle();
      taken.forEach((receive, rank) => {
        expect(world.end(rank, receive), 20, "the message of the first life");
      });
      const waiting = survivors.map((rank) => world.receive({ at: rank, source: lastFalls }));
      survivors.forEach((from) => {
        sends[from]!.push(...post(from, [2, 3]));
      });
      world.settle();
      world.kill(lastFalls);
      world.settle();
      assert(!waiting.some((receive, rank) => world.isComplete(rank, receive)), "a death has ended a request");
      const again = recorded(protocols, lastFalls, at);
      world.revive(lastFalls, again, protocols.dataFor(lastFalls));
      world.settle();
      live();
      for (const source of survivors) {
        for (const tag of [2, 3]) {
          const receive = world.receive({ at: lastFalls, source });
          world.settle();
          expect(world.end(lastFalls, receive), tag, `the message of rank ${source} that was under way`);
        }
        world.send({ from: lastFalls, to: source, size: "rendezvous", tag: 21 });
      }
      world.settle();
      waiting.forEach((receive, rank) => {
        expect(world.end(rank, receive), 21, "the next message, after one that came in the life before,");
      });
      sends.forEach((posted, rank) => {
        assert(
          posted.every((send) => world.isComplete(rank, send)),
          `a send of rank ${rank} is not complete`,
        );
      });
    },
  },
  ...[true, false].map(
    (isKnown): ConformanceCase => ({
      name: `the death of one of those that play a rank, ${isKnown ? "between messages" : "with messages on their way"}: nothing is lost, nothing comes twice`,
      ranks: 3,
      skip: ({ replicas = 1 }) => (replicas > 1 ? null : "one process plays each rank"),
      run({ world }) {
        const sends: (readonly [number, RecordId])[] = [];
        const post = (from: number, to: number, tags: readonly number[]): void => {
          for (const tag of tags) sends.push([from, world.send({ from, to, size: sizes[tag % 2]!, tag })]);
        };
        const take = (at: number, source: number, tags: readonly number[]): void => {
          for (const tag of tags) {
            const receive = world.receive({ at, source });
            world.settle();
            expect(world.end(at, receive), tag, `the message of rank ${source} at rank ${at}`);
          }
        };
        post(lastFalls, 0, [0, 1, 2, 3]);
        post(1, lastFalls, [10, 11, 12, 13]);
        world.settle();
        take(0, lastFalls, [0]);
        take(lastFalls, 1, [10]);
        if (!isKnown) {
          post(lastFalls, 0, [4, 5]);
          post(1, lastFalls, [14, 15]);
        }
        world.kill(lastFalls);
        if (isKnown) {
          world.settle();
          post(lastFalls, 0, [4, 5]);
          post(1, lastFalls, [14, 15]);
        }
        take(0, lastFalls, [1, 2, 3, 4, 5]);
        take(lastFalls, 1, [11, 12, 13, 14, 15]);
        const [at0, at2] = [world.receive({ at: 0 }), world.receive({ at: lastFalls })];
        world.settle();
        assert(!world.isComplete(0, at0) && !world.isComplete(lastFalls, at2), "a message has come twice");
        for (const [rank, send] of sends)
          assert(world.isComplete(rank, send), `a send of rank ${rank} is not complete`);
      },
    }),
  ),
  {
    name: "news of deaths that are old, and of returns that were known, change nothing",
    ranks: 3,
    run({ world, at }) {
      if (!at[0]!.deathEndsRequests) {
        at[0]!.peerFailed({ rank: lastFalls, replica: 0 }, -1);
        at[0]!.peerReturned({ rank: lastFalls, replica: 0 }, -1);
      }
      const receive = world.receive({ at: lastFalls, source: 0 });
      world.send({ from: 0, to: lastFalls, size: "eager", tag: 5 });
      world.settle();
      expect(world.end(lastFalls, receive), 5, "the message after the news");
    },
  },
];

export const protocolConformance: readonly ConformanceCase[] = [...messages, ...passedOn, ...deaths];
