/**
 * Persistent collectives: made in the same order by all ranks, then started again and again, by each rank in an order of its
 * own. The collectives of a set are started together, and none of them is waited for before all are under way.
 */
import type { CollectivePlan } from "../script/collective-plan.ts";
import { type CommunicatorPlan, membersOf } from "../script/communicator-plan.ts";
import { planCollective } from "./collectives.ts";
import type { Draft } from "./draft.ts";
import type { MakeFamily } from "./family.ts";

interface PersistentSet {
  readonly comm: CommunicatorPlan;
  readonly patterns: readonly Omit<CollectivePlan, "number">[];
  /** The series of each rank, one for each pattern. */
  readonly series: ReadonlyMap<number, readonly number[]>;
  /** Each rank's last starts, which must be over before the next. */
  last: ReadonlyMap<number, readonly number[]>;
}

const setsMax = 3;

export const persistentCollectives: MakeFamily = (draft) => {
  const sets: PersistentSet[] = [];
  return {
    name: "persistent collectives",
    weight: 5,
    bearsDeaths: false,
    deal(comm) {
      const { random } = draft;
      const isNew = sets.length === 0 || (sets.length < setsMax && random.chance(0.3));
      const set = isNew ? newSet(draft, comm) : random.pick(sets);
      start(draft, set, isNew);
      if (isNew) sets.push(set);
    },
    end() {
      for (const { series } of sets) {
        for (const [rank, all] of series) for (const one of all) draft.act(rank, { kind: "free-series", series: one });
      }
    },
  };
};

function newSet(draft: Draft, comm: CommunicatorPlan): PersistentSet {
  const patterns = Array.from({ length: draft.random.between(1, 3) }, () => planCollective(draft, comm));
  const members = membersOf(comm);
  const series = new Map(members.map((rank) => [rank, patterns.map(() => draft.newSeries(rank))] as const));
  return { comm, patterns, series, last: new Map() };
}

function start(draft: Draft, set: PersistentSet, isFirst: boolean): void {
  const numbers = set.patterns.map((pattern) => draft.collective(pattern));
  const last = new Map<number, readonly number[]>();
  for (const [rank, series] of set.series) {
    if (isFirst) {
      for (const [index, collective] of numbers.entries())
        draft.act(rank, { kind: "init-collective", series: series[index]!, collective });
    }
    draft.settle(rank, set.last.get(rank) ?? []);
    const requests = draft.random.shuffle([...numbers.entries()]).map(([index, collective]) => {
      const request = draft.newRequest(rank);
      draft.act(rank, { kind: "start-collective", series: series[index]!, collective, request });
      draft.leaveOpen(rank, request);
      return request;
    });
    if (draft.random.chance(0.5)) draft.settle(rank, requests);
    last.set(rank, requests);
  }
  set.last = last;
}
