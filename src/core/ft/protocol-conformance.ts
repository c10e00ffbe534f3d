/**
 * What every protocol promises, as cases that every protocol passes. A case runs a small scripted world and throws when a
 * promise is broken. Pure: who runs the suite brings the worlds (the simulator has them, `src/sim`).
 *
 * Cases with gates put `RecordingProtocol` around the protocol under test: they check that the engine does what the
 * contract says with a "not yet", whatever the protocol itself would say.
 */
import { assert } from "../base/assert.ts";
import type { RecordId, WorldRank } from "../base/brand.ts";
import type { NewProtocol, Protocol } from "./protocol.ts";
import { type RecordedCall, Recording } from "./recording-protocol.ts";

/** Sizes are by name: a world knows which size takes which way. */
export type MessageSize = "eager" | "rendezvous";

/** A world in which tests start messages by hand. Contents are checked by the world when a receive ends. */
export interface ConformanceWorld {
  send(message: { from: number; to: number; size: MessageSize; tag?: number; context?: number }): RecordId;
  /** Without a source: from any. */
  receive(wanted: { at: number; source?: number; tag?: number; context?: number }): RecordId;
  /** Lets everything happen that can happen; hooks that said "not yet" are asked again. */
  settle(): void;
  isComplete(rank: number, request: RecordId): boolean;
  /** Ends a complete receive: the tag of the message it got. Throws when its contents are wrong. */
  end(rank: number, request: RecordId): number;
}

export interface ConformanceSetup {
  /** The protocol under test, a new one for each process; all of them fall together, if that makes a difference. */
  protocol(rank: number, ranks: number): NewProtocol;
  world(ranks: number, protocolOf: (rank: number) => NewProtocol): ConformanceWorld;
}

export interface ConformanceCase {
  readonly name: string;
  run(setup: ConformanceSetup): void;
}

/** A world of recorded processes. */
function recorded(setup: ConformanceSetup, ranks: number): { world: ConformanceWorld; at: Recording[] } {
  const at = Array.from({ length: ranks }, () => new Recording());
  return { world: setup.world(ranks, (rank) => at[rank]!.around(setup.protocol(rank, ranks))), at };
}

/** The hooks that were called, one word each, "not yet" left out and repeated questions once. */
function story(calls: readonly RecordedCall[]): string {
  const told = calls.filter(({ answer }) => answer !== false).map(({ hook }) => hook);
  return told.join(" ");
}

function expect<T>(actual: T, wanted: T, what: string): void {
  assert(actual === wanted, `${what} is ${String(actual)}, wanted is ${String(wanted)}`);
}

export const protocolConformance: readonly ConformanceCase[] = [
  {
    name: "hooks of an eager message into a posted receive",
    run(setup) {
      const { world, at } = recorded(setup, 2);
      const receive = world.receive({ at: 1, source: 0 });
      const send = world.send({ from: 0, to: 1, size: "eager" });
      world.settle();
      world.end(1, receive);
      assert(world.isComplete(0, send), "the send is not complete");
      expect(story(at[0]!.calls), "sendPosted sendMayLeave sendMayComplete", "what the sender's protocol heard");
      expect(story(at[1]!.calls), "receivePosted arrived matched held", "what the receiver's protocol heard");
    },
  },
  {
    name: "hooks of an eager message that comes before its receive: held first, then matched",
    run(setup) {
      const { world, at } = recorded(setup, 2);
      world.send({ from: 0, to: 1, size: "eager" });
      world.settle();
      expect(story(at[1]!.calls), "arrived held", "what the receiver's protocol heard");
      world.end(1, world.receive({ at: 1, source: 0 }));
      expect(story(at[1]!.calls), "arrived held receivePosted matched", "what the receiver's protocol heard");
    },
  },
  {
    name: "hooks of a rendezvous: held when all bytes are there, once",
    run(setup) {
      for (const first of ["send", "receive"] as const) {
        const { world, at } = recorded(setup, 2);
        const early = first === "receive" ? world.receive({ at: 1, source: 0 }) : null;
        const send = world.send({ from: 0, to: 1, size: "rendezvous" });
        world.settle();
        const receive = early ?? world.receive({ at: 1, source: 0 });
        world.settle();
        world.end(1, receive);
        assert(world.isComplete(0, send), "the send is not complete");
        expect(story(at[0]!.calls), "sendPosted sendMayLeave sendMayComplete", "what the sender's protocol heard");
        const begin = first === "receive" ? "receivePosted arrived" : "arrived receivePosted";
        expect(story(at[1]!.calls), `${begin} matched held`, "what the receiver's protocol heard");
      }
    },
  },
  {
    name: "a wildcard receive: matched tells which message it was",
    run(setup) {
      const { world, at } = recorded(setup, 3);
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
    run(setup) {
      const { world, at } = recorded(setup, 3);
      for (let i = 0; i < 6; i++) {
        const size = i % 3 === 0 ? "rendezvous" : "eager";
        world.send({ from: 0, to: 1, size, context: 2 + 2 * (i % 2) });
        world.send({ from: 0, to: 2, size: "eager" });
      }
      world.settle();
      for (const rank of [1, 2]) {
        const arrived = at[rank]!.calls.filter(({ hook }) => hook === "arrived");
        expect(
          arrived.map(({ sequence }) => sequence).join(),
          "0,1,2,3,4,5",
          `the numbers that arrived at rank ${rank}`,
        );
      }
    },
  },
  {
    name: '"not yet" in sendMayLeave holds that message and those behind it in its channel, and nothing else',
    run(setup) {
      for (const size of ["eager", "rendezvous"] as const) {
        const { world, at } = recorded(setup, 3);
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
        const arrived = (rank: number): number => at[rank]!.calls.filter(({ hook }) => hook === "arrived").length;
        expect(arrived(1), 0, "the number of messages that arrived at rank 1");
        expect(arrived(2), 1, "the number of messages that arrived at rank 2");
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
      }
    },
  },
  {
    name: '"not yet" in sendMayComplete holds the completion, not the message',
    run(setup) {
      for (const size of ["eager", "rendezvous"] as const) {
        const { world, at } = recorded(setup, 2);
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
      }
    },
  },
  {
    name: "a message that arrived says no to is dropped before matching, and the next one comes",
    run(setup) {
      const { world, at } = recorded(setup, 2);
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
    name: "deaths and returns are taken without a word",
    run(setup) {
      const made: Protocol[] = [];
      setup.world(2, (rank) => (ports) => {
        const protocol = setup.protocol(rank, 2)(ports);
        made.push(protocol);
        return protocol;
      });
      made[0]!.peerFailed(1 as WorldRank, 0);
      made[0]!.peerReturned(1 as WorldRank, 1);
    },
  },
];
