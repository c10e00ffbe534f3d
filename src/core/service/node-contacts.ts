/**
 * Which nodes must hear where other nodes listen, and when. A node can be told once it listens itself, and connects to a peer only when
 * it knows the address of the peer's present process.
 *
 * In the beginning nobody is told before everybody listens: one message to each node instead of one to each pair. From then on
 * a node that listens after it has taken a place changes everybody's list at once. A place without a living process has no
 * address: that of the process before leads nowhere, or to a stranger. No node waits for a place that no process takes.
 */
import { assert } from "../base/assert.ts";

interface Place<Address> {
  state: "starting" | "listening" | "lost";
  /** Of the present process, if it listens. */
  address: Address | null;
}

export class NodeContacts<Address> {
  readonly #places: Place<Address>[];
  /** Have all nodes been told once? */
  #isOpen = false;

  /** Every node is starting. */
  constructor(nodes: number) {
    this.#places = Array.from({ length: nodes }, () => ({ state: "starting", address: null }));
  }

  /** Another process takes the place of one that was lost. */
  replaced(node: number): void {
    while (this.#places.length < node) this.#places.push({ state: "lost", address: null });
    this.#places[node] = { state: "starting", address: null };
  }

  /** The process of that node is gone, or counts as gone. Nodes that are to be told all addresses now. */
  lost(node: number): number[] {
    this.#places[node] = { state: "lost", address: null };
    // Perhaps all nodes were waiting for this one alone. Otherwise its death is told elsewhere, and its address is of no use.
    return this.#isOpen ? [] : this.#toldNow();
  }

  /** The present process of that node listens. Nodes that are to be told all addresses now. */
  listens(node: number, address: Address): number[] {
    const place = this.#places[node]!;
    assert(place.state !== "lost", `node ${node} listens, and counts as lost`);
    Object.assign(place, { state: "listening", address });
    return this.#toldNow();
  }

  /** Those that listen. */
  get listening(): number[] {
    return [...this.#places.keys()].filter((node) => this.#places[node]!.state === "listening");
  }

  /** Where the present process of a node listens; null: it does not. */
  addressOf(node: number): Address | null {
    return this.#places[node]!.address;
  }

  #toldNow(): number[] {
    this.#isOpen ||= this.#places.every(({ state }) => state !== "starting");
    return this.#isOpen ? this.listening : [];
  }
}
