import { deepEqual, equal } from "node:assert/strict";
import { describe, it } from "node:test";
import type { RecordId } from "../base/brand.ts";
import { ANY_SOURCE, ANY_TAG } from "../base/constants.ts";
import fc from "../base/testing/properties.ts";
import { R_CONTEXT, R_PEER, R_TAG, RecordKind, Records } from "../request/records.ts";
import { PostedQueue } from "./posted-queue.ts";
import { fits, type Pattern, QueueModel } from "./testing/queue-model.ts";
import { UnexpectedQueue } from "./unexpected-queue.ts";

/** Few values, so that patterns meet; tags of our own among them. */
const message = fc.record({
  context: fc.constantFrom(2, 3, 98_765_432),
  source: fc.nat(3),
  tag: fc.constantFrom(0, 1, 7, -5),
});
const receive = fc.record({
  context: message.map(({ context }) => context),
  source: fc.constantFrom(ANY_SOURCE, 0, 1, 2, 3),
  tag: fc.constantFrom(ANY_TAG, ANY_TAG, 0, 1, 7, -5),
});

/** How many appends a step makes: large numbers make indexes grow. */
const times = fc.oneof(
  { weight: 8, arbitrary: fc.constant(1) },
  { weight: 1, arbitrary: fc.integer({ min: 50, max: 300 }) },
);

const step = fc.oneof(
  fc.record({ kind: fc.constant("append" as const), message, receive, times }),
  fc.record({ kind: fc.constant("take" as const), message, receive, times }),
  fc.record({ kind: fc.constant("find" as const), message, receive, times: fc.constant(1) }),
  fc.record({ kind: fc.constant("remove" as const), message, receive, times, index: fc.nat() }),
);
const steps = fc.array(step, { maxLength: 60 });

interface Queue {
  readonly count: number;
  append(record: RecordId): void;
  remove(record: RecordId): void;
  find(context: number, source: number, tag: number): number;
  forEach(visit: (record: RecordId) => void): void;
}

/** Runs the steps on the queue and on the model; `stored` and `sought` say which side of a match lies in the queue. */
function agree(
  make: (records: Records) => Queue,
  sides: (step: { message: Pattern; receive: Pattern }) => { stored: Pattern; sought: Pattern },
  wants: (sought: Pattern, stored: Pattern) => boolean,
): void {
  fc.assert(
    fc.property(steps, (list) => {
      const records = new Records(4);
      const queue = make(records);
      const model = new QueueModel();
      for (const step of list) {
        const { stored, sought } = sides(step);
        const find = (): number => {
          const found = queue.find(sought.context, sought.source, sought.tag);
          equal(
            found,
            model.find((pattern) => wants(sought, pattern)),
          );
          return found;
        };
        for (let i = 0; i < step.times; i++) {
          let gone = -1;
          if (step.kind === "append") {
            const record = records.take(RecordKind.ENVELOPE);
            records.put(record, R_CONTEXT, stored.context);
            records.put(record, R_PEER, stored.source);
            records.put(record, R_TAG, stored.tag);
            queue.append(record);
            model.append(record, stored);
          } else if (step.kind !== "remove") {
            const found = find();
            if (step.kind === "take") gone = found;
          } else if (model.entries.length !== 0) gone = model.entries[step.index % model.entries.length]!.record;
          if (gone >= 0) {
            queue.remove(gone as RecordId);
            model.remove(gone as RecordId);
            records.give(gone as RecordId);
          }
        }
        equal(queue.count, model.entries.length);
      }
      const order: number[] = [];
      queue.forEach((record) => {
        order.push(record);
      });
      deepEqual(
        order,
        model.entries.map(({ record }) => record),
      );
    }),
    { numRuns: 300 },
  );
}

describe("M1 MPI §3.5 queues against a plain list", () => {
  it("posted receives: an arriving message takes the oldest that fits", () => {
    agree(
      (records) => new PostedQueue(records),
      ({ message, receive }) => ({ stored: receive, sought: message }),
      (sought, stored) => fits(stored, sought),
    );
  });

  it("unexpected messages: a receive takes the oldest that fits", () => {
    agree(
      (records) => new UnexpectedQueue(records),
      ({ message, receive }) => ({ stored: message, sought: receive }),
      (sought, stored) => fits(sought, stored),
    );
  });
});
