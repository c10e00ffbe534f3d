import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { blockMessages, DigestComparison, SendDigests } from "./send-digests.ts";
import { messageTerm } from "./send-hash.ts";

interface Told {
  readonly dest: number;
  readonly block: number;
  readonly digest: number;
}

function digestsOf(messages: readonly (readonly [dest: number, sequence: number, hash: number])[]): Told[] {
  const told: Told[] = [];
  const digests = new SendDigests((dest, block, digest) => told.push({ dest, block, digest }));
  for (const [dest, sequence, hash] of messages) digests.add(dest, sequence, messageTerm(sequence, 2, 0, 8, hash));
  return told;
}

const channel = (dest: number, count: number, hash = (i: number) => i): [number, number, number][] =>
  Array.from({ length: count }, (_, i) => [dest, i, hash(i)]);

test("R8 a block is told when all of its messages have been posted, and not before", () => {
  deepEqual(digestsOf(channel(1, blockMessages - 1)), []);
  deepEqual(
    digestsOf([...channel(1, 2 * blockMessages), ...channel(4, blockMessages)]).map(({ dest, block }) => [dest, block]),
    [
      [1, 0],
      [1, 1],
      [4, 0],
    ],
  );
});

test("R8 the order in which messages of a block are posted does not matter: collectives go on when they can", () => {
  const inOrder = channel(2, 3 * blockMessages);
  const late = inOrder.splice(5, 1);
  const told = digestsOf([...inOrder, ...late]);
  const byBlock = (one: Told, other: Told): number => one.block - other.block;
  deepEqual(told.sort(byBlock), digestsOf(channel(2, 3 * blockMessages)));
});

test("R8 a message that is never posted costs the comparison of its block, and no memory", () => {
  const told: number[] = [];
  const digests = new SendDigests((_dest, block) => told.push(block));
  for (let sequence = 1; sequence < 100 * blockMessages; sequence++) digests.add(0, sequence, sequence);
  equal(digests.skipped, 1);
  deepEqual(
    told,
    Array.from({ length: 99 }, (_, i) => i + 1),
  );
});

test("R8 replicas that send the same are found to, whoever is first; one other bit is found as well", () => {
  const mine = digestsOf(channel(3, 4 * blockMessages));
  const others = digestsOf(channel(3, 4 * blockMessages, (i) => (i === 2 * blockMessages + 9 ? -i : i)));
  for (const ownFirst of [true, false]) {
    const comparison = new DigestComparison();
    const found = [0, 1, 2, 3].flatMap((i) => {
      const own = () => comparison.own(3, i, mine[i]!.digest);
      const told = () => comparison.told(3, i, others[i]!.digest);
      return (ownFirst ? [own(), told()] : [told(), own()]).filter((each) => each !== null);
    });
    deepEqual(found, [{ dest: 3, firstSequence: 2 * blockMessages, lastSequence: 3 * blockMessages - 1 }]);
    equal(comparison.compared, 4);
  }
});

test("R8 a replica that is far behind is compared when it comes closer", () => {
  const digests = digestsOf(channel(0, 40 * blockMessages));
  const comparison = new DigestComparison();
  for (const { dest, block, digest } of digests) equal(comparison.own(dest, block, digest), null);
  for (const { dest, block, digest } of digests) equal(comparison.told(dest, block, digest), null);
  ok(comparison.compared === 16, `${comparison.compared} blocks were still known`);
});
