/**
 * Every order in which up to four nodes start, listen, are killed and replaced: in the end each process that lives knows where the
 * present process of every other node listens.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { NodeContacts } from "./node-contacts.ts";

type Rule = Pick<NodeContacts<number>, "replaced" | "lost" | "listens" | "addressOf">;

interface Event {
  readonly kind: "listens" | "killed" | "replaced";
  readonly node: number;
}

/** The address of a process is its number: nobody has the address of another. */
interface Process {
  readonly address: number;
  state: "starting" | "listening" | "lost";
  /** Where it thinks that each node listens. */
  book: readonly (number | null)[];
  told: number;
}

class World {
  readonly #rule: Rule;
  readonly #isReplacing: boolean;
  readonly processes: Process[];
  #started = 0;
  #killsLeft: number;

  constructor(rule: Rule, { nodes, kills, isReplacing }: Scope) {
    this.#rule = rule;
    this.#isReplacing = isReplacing;
    this.#killsLeft = kills;
    this.processes = Array.from({ length: nodes }, () => this.#newProcess());
  }

  /** What can happen next; nothing: it is over. */
  possible(): Event[] {
    return this.processes.flatMap(({ state }, node): Event[] => {
      if (state === "lost") return this.#isReplacing ? [{ kind: "replaced", node }] : [];
      const kill: Event[] = this.#killsLeft > 0 ? [{ kind: "killed", node }] : [];
      return state === "starting" ? [{ kind: "listens", node }, ...kill] : kill;
    });
  }

  /** Nobody is under way: from here on only kills can happen. */
  get isSettled(): boolean {
    return this.processes.every(({ state }) => state === "listening" || (state === "lost" && !this.#isReplacing));
  }

  happens({ kind, node }: Event): void {
    const process = this.processes[node]!;
    switch (kind) {
      case "killed":
        this.#killsLeft--;
        process.state = "lost";
        this.#tell(this.#rule.lost(node));
        break;
      case "replaced":
        this.processes[node] = this.#newProcess();
        this.#rule.replaced(node);
        break;
      case "listens":
        process.state = "listening";
        this.#tell(this.#rule.listens(node, process.address));
        break;
      default:
        throw new Error(kind satisfies never);
    }
  }

  /** What somebody who lives does not know, or knows wrongly; empty: nothing. */
  get problem(): string {
    for (const [node, { state, book }] of this.processes.entries()) {
      if (state !== "listening") continue;
      for (const [other, { state: its, address }] of this.processes.entries()) {
        if (its === "listening" && book[other] !== address)
          return `node ${node} looks for node ${other} at ${book[other] ?? "no address"}, it is at ${address}`;
      }
    }
    return "";
  }

  #tell(nodes: readonly number[]): void {
    const book = this.processes.map((_, node) => this.#rule.addressOf(node));
    for (const node of nodes) {
      const process = this.processes[node]!;
      process.book = book;
      process.told++;
    }
  }

  #newProcess(): Process {
    return { address: this.#started++, state: "starting", book: [], told: 0 };
  }
}

interface Scope {
  readonly nodes: number;
  readonly kills: number;
  readonly isReplacing: boolean;
}

interface Explored {
  orders: number;
  /** The first order that goes wrong, and how. */
  problem: string;
}

/** Every order of events, from the start each time: a rule cannot be copied. */
function explore(newRule: (nodes: number) => Rule, scope: Scope): Explored {
  const explored: Explored = { orders: 0, problem: "" };
  const goOn = (before: readonly Event[]): void => {
    const world = new World(newRule(scope.nodes), scope);
    for (const event of before) world.happens(event);
    if (explored.problem !== "") return;
    if (world.isSettled) {
      explored.orders++;
      const problem = world.problem;
      if (problem !== "")
        explored.problem = `${before.map(({ kind, node }) => `${node} ${kind}`).join(", ")}: ${problem}`;
    }
    for (const next of world.possible()) goOn([...before, next]);
  };
  goOn([]);
  return explored;
}

const scopes: Scope[] = [
  { nodes: 2, kills: 3, isReplacing: true },
  { nodes: 3, kills: 2, isReplacing: true },
  { nodes: 4, kills: 1, isReplacing: true },
  { nodes: 3, kills: 2, isReplacing: false },
  { nodes: 4, kills: 3, isReplacing: false },
];

for (const scope of scopes) {
  const { nodes, kills, isReplacing } = scope;
  const what = `${nodes} nodes, ${kills} of them killed and ${isReplacing ? "replaced" : "missed by nobody"}`;
  test(`V1: ${what}: whoever lives knows where everybody is, whatever the order`, () => {
    const { orders, problem } = explore((count) => new NodeContacts(count), scope);
    assert.equal(problem, "");
    assert(orders > 20, `${orders} orders`);
  });
}

test("V1: when nobody is killed each node is told once", () => {
  const world = new World(new NodeContacts(4), { nodes: 4, kills: 0, isReplacing: true });
  for (const node of [2, 0, 3, 1]) world.happens({ kind: "listens", node });
  assert.equal(world.problem, "");
  assert.deepEqual(
    world.processes.map(({ told }) => told),
    [1, 1, 1, 1],
  );
});

test("V1: a place whose process is gone has no address until another listens there", () => {
  const contacts = new NodeContacts<number>(2);
  contacts.listens(0, 10);
  contacts.listens(1, 11);
  contacts.lost(1);
  assert.equal(contacts.addressOf(1), null);
  contacts.replaced(1);
  assert.equal(contacts.addressOf(1), null);
  assert.deepEqual(contacts.listens(1, 12), [0, 1]);
  assert.equal(contacts.addressOf(1), 12);
});

/** The rule that let jobs hang: of a list that a replacement completes, only the replacement hears. */
class OnlyTheReplacementHears implements Rule {
  readonly #addresses: (number | undefined)[];
  readonly #replacing = new Set<number>();

  constructor(nodes: number) {
    this.#addresses = new Array<undefined>(nodes).fill(undefined);
  }

  replaced(node: number): void {
    this.#replacing.add(node);
  }

  lost(): number[] {
    return [];
  }

  listens(node: number, address: number): number[] {
    this.#addresses[node] = address;
    const hasReplaced = this.#replacing.delete(node);
    if (this.#addresses.includes(undefined)) return [];
    return hasReplaced ? [node] : [...this.#addresses.keys()];
  }

  addressOf(node: number): number | null {
    return this.#addresses[node] ?? null;
  }
}

test("V1: the search finds what is wrong with the rule that let jobs hang", () => {
  const scope = { nodes: 3, kills: 1, isReplacing: true };
  const { problem } = explore((nodes) => new OnlyTheReplacementHears(nodes), scope);
  assert.match(problem, /looks for node \d at/);
  const world = new World(new OnlyTheReplacementHears(3), scope);
  for (const node of [0, 1]) world.happens({ kind: "listens", node });
  for (const kind of ["killed", "replaced", "listens"] as const) world.happens({ kind, node: 2 });
  assert.equal(world.problem, "node 0 looks for node 0 at no address, it is at 0");
});
