/**
 * A bag of tasks that loses workers: rank 0 hands tasks out, and a task whose worker dies goes back into the bag. Nothing is revoked or
 * shrunk: the manager speaks to each worker alone, and a death concerns only those who speak to the dead.
 *
 *   banyan run -n 8 --nodes 4 --protocol ulfm --faults "kill node 1 at 1s; kill rank 6 at 2s" examples/ulfm/tasks.ts
 */
import { mpi } from "banyan";

const tasks = 300;
const numbersPerTask = 4000;
const TASK = 1;
const RESULT = 2;

const { world } = mpi;

/** How many primes the task's numbers have among them. */
function work(task: number): number {
  let primes = 0;
  for (let n = task * numbersPerTask; n < (task + 1) * numbersPerTask; n++) {
    let isPrime = n > 1;
    for (let d = 2; d * d <= n && isPrime; d++) isPrime = n % d !== 0;
    if (isPrime) primes++;
  }
  return primes;
}

/** −1 means: no more. */
function worker(): void {
  const task = new Int32Array(1);
  for (;;) {
    world.recv(task, { source: 0, tag: TASK });
    if (task[0]! < 0) return;
    world.send(Int32Array.of(work(task[0]!)), { dest: 0, tag: RESULT });
  }
}

const bag = [...Array(tasks).keys()];
/** Workers that live, and their tasks; null: it has none. */
const taskOf = new Map<number, number | null>();
let lost = 0;

/** Takes back what the dead had, and acknowledges their deaths: only then receives from anybody go on. */
function bury(): void {
  world.ackFailed();
  for (const dead of world.acknowledged().worldRanks) {
    const task = taskOf.get(dead);
    if (!taskOf.delete(dead)) continue;
    lost++;
    if (task !== null && task !== undefined) bag.push(task);
  }
}

/** Does `call`; false: a process is dead. */
function survives(call: () => void): boolean {
  try {
    call();
    return true;
  } catch (error) {
    if (error instanceof mpi.MpiError && error.className.startsWith("MPI_ERR_PROC_FAILED")) return false;
    throw error;
  }
}

function handOut(): void {
  for (const [dest, task] of [...taskOf]) {
    const next = task === null ? bag.pop() : undefined;
    if (next === undefined) continue;
    taskOf.set(dest, next);
    // To one that is dead it fails, and its task comes back when the dead are buried.
    if (!survives(() => world.send(Int32Array.of(next), { dest, tag: TASK }))) bury();
  }
}

function manager(): number {
  let total = 0;
  const result = new Int32Array(1);
  let receive = world.irecv(result, { tag: RESULT });
  for (let worker = 1; worker < world.size; worker++) taskOf.set(worker, null);
  for (let done = 0; done < tasks; ) {
    handOut();
    if ([...taskOf.values()].every((task) => task === null)) {
      // All workers are dead.
      total += work(bag.pop()!);
      done++;
      continue;
    }
    const isReceived = survives(() => {
      taskOf.set(receive.wait().source, null);
      total += result[0]!;
      done++;
      receive = world.irecv(result, { tag: RESULT });
    });
    // The receive is still there, and goes on when the dead are acknowledged.
    if (!isReceived) bury();
  }
  receive.cancel();
  receive.wait();
  for (const dest of taskOf.keys()) survives(() => world.send(Int32Array.of(-1), { dest, tag: TASK }));
  return total;
}

if (world.rank > 0) survives(worker);
else {
  console.log(`${manager()} primes below ${tasks * numbersPerTask}`);
  console.error(`${lost} workers were lost`);
}
