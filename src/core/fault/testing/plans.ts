/** Random plans for the property tests. */
import fc from "../../base/testing/properties.ts";
import type { Entry, Fault, FaultPlan, LinkPattern, SetScope, Span, Victim, When } from "../plan.ts";
import { services, wholeMicroseconds } from "../plan.ts";

/** The job that all of the plans fit. */
export const jobSize = { ranks: 8, nodes: 4, sets: 4 };
export const jobLayout = { nodes: 4, placement: [0, 0, 1, 1, 2, 2, 3, 3], setOf: [0, 0, 1, 1, 2, 2, 3, 3] };

const rank = fc.nat(7);
const node = fc.nat(3);
const set = fc.nat(3);
const timeMs = fc.oneof(
  fc.nat(20_000),
  fc.nat(20_000_000).map((us) => us / 1000),
);
const longMs = timeMs.map((ms) => wholeMicroseconds(ms + 1));
const count = fc.integer({ min: 1, max: 5 });
const perhaps = <T>(it: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(it);

const link: fc.Arbitrary<LinkPattern> = fc.oneof(
  fc.constant<LinkPattern>({ one: "*", other: "*" }),
  node.map((one): LinkPattern => ({ one, other: "*" })),
  fc.nat(2).chain((one) => fc.integer({ min: one + 1, max: 3 }).map((other): LinkPattern => ({ one, other }))),
);

const victim: fc.Arbitrary<Victim> = fc.oneof(
  fc.record({ kind: fc.constant("rank"), rank }),
  fc.record({ kind: fc.constant("node"), node }),
  fc.record({ kind: fc.constant("set"), set }),
  fc.record({ kind: fc.constant("service"), service: fc.constantFrom(...services) }),
  fc.record({ kind: fc.constant("random"), of: fc.constantFrom("rank", "node") }),
);

const fault: fc.Arbitrary<Fault> = fc.oneof(
  fc.record({ kind: fc.constant("kill"), victim }),
  fc.record({
    kind: fc.constant("stop"),
    node: fc.oneof(node, fc.constant("random" as const)),
    forMs: perhaps(timeMs),
  }),
  fc.record({ kind: fc.constant("continue"), node }),
  fc.record({ kind: fc.constant("cut"), link, forMs: perhaps(timeMs) }),
  fc.record({ kind: fc.constant("delay"), link, byMs: timeMs, forMs: perhaps(timeMs) }),
  fc.record({ kind: fc.constant("restore"), link }),
);

const span: fc.Arbitrary<Span> = fc.oneof(
  fc.record({ kind: fc.constant("fixed"), ms: longMs }),
  fc.tuple(longMs, fc.nat(99)).map(([ms, percent]): Span => {
    return { kind: "around", ms, spreadMs: wholeMicroseconds((ms * percent) / 100) };
  }),
  fc.tuple(timeMs, longMs).map(([one, other]): Span => {
    return { kind: "between", leastMs: Math.min(one, other), mostMs: Math.max(one, other) };
  }),
  fc.record({ kind: fc.constant("exponential"), meanMs: longMs }),
  fc.record({
    kind: fc.constant("weibull"),
    shape: fc.integer({ min: 1, max: 50 }).map((tenths) => tenths / 10),
    scaleMs: longMs,
  }),
);

const scope: fc.Arbitrary<SetScope> = fc.oneof(set, fc.constantFrom("own" as const, "any" as const));

const whens: fc.Arbitrary<When> = fc.oneof(
  fc.record({ kind: fc.constant("time"), after: span }),
  fc.record({ kind: fc.constant("every"), period: span, times: count, fromMs: perhaps(timeMs) }),
  fc.record({ kind: fc.constant("call"), count: fc.integer({ min: 1, max: 50 }), rank }),
  fc.record({ kind: fc.constant("init"), rank: perhaps(rank) }),
  fc.record({ kind: fc.constant("finish") }),
  fc.record({
    kind: fc.constant("checkpoint"),
    window: fc.constantFrom("before", "while", "commit", "after"),
    number: perhaps(count),
    set: scope,
  }),
  fc.record({ kind: fc.constant("recovery"), number: perhaps(count), set: scope }),
  fc.record({ kind: fc.constant("log-full"), set: scope }),
);

const flip: fc.Arbitrary<Entry> = fc.record({
  kind: fc.constant("fault"),
  fault: fc.record({
    kind: fc.constant("flip"),
    bits: fc.integer({ min: 1, max: 99 }),
    message: fc.constant(null),
    victim: fc.record({ rank, replica: perhaps(fc.constant(0)) }),
  }),
  when: fc.oneof(
    fc.record({ kind: fc.constant("time"), after: span }),
    fc.record({ kind: fc.constant("call"), count: fc.integer({ min: 1, max: 50 }), rank: fc.constant(null) }),
  ),
});

const faultEntry: fc.Arbitrary<Entry> = fc.oneof(
  { weight: 9, arbitrary: fc.record({ kind: fc.constant("fault"), fault, when: whens }) },
  { weight: 1, arbitrary: flip },
);

export const plans: fc.Arbitrary<FaultPlan> = fc
  .tuple(fc.array(faultEntry, { maxLength: 8 }), perhaps(fc.tuple(fc.nat(8), fc.nat(0xffffffff))))
  // fast-check makes some objects without a prototype; objects of plans have one.
  .map((made) => structuredClone(made))
  .map(([entries, seed]) => {
    if (seed === null) return { entries };
    const [at, value] = seed;
    return { entries: [...entries.slice(0, at), { kind: "seed", seed: value }, ...entries.slice(at)] };
  });
