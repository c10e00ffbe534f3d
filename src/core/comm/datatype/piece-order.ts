/**
 * Do the pieces of a layout ascend, and do they overlap? Answered from the description of the layout: a repeat of a billion
 * costs as much as one copy.
 */
import type { Layout } from "./layout.ts";

interface Order {
  /** Where the first piece begins, and where the last piece begins and ends. */
  readonly first: number;
  readonly last: number;
  readonly end: number;
  /** No piece begins before the piece in front of it. */
  readonly ascends: boolean;
  /** Each piece begins at or behind the end of the piece in front of it. */
  readonly isDisjoint: boolean;
}

export function pieceOrder(layout: Layout): Pick<Order, "ascends" | "isDisjoint"> {
  return orderOf(layout, 0);
}

function orderOf(layout: Layout, base: number): Order {
  const at = base + layout.offset;
  switch (layout.kind) {
    case "run":
      return one(at, layout.bytes);
    case "blocks":
      return layout.offsets.map((offset, i) => one(at + offset, layout.lengths[i]!)).reduce(behind);
    case "repeat": {
      const child = orderOf(layout.child, at);
      const two = behind(child, moved(child, layout.stride));
      return { ...moved(two, (layout.count - 2) * layout.stride), first: child.first };
    }
    case "sequence":
      return layout.children.map((child) => orderOf(child, at)).reduce(behind);
  }
}

const one = (at: number, bytes: number): Order => ({
  first: at,
  last: at,
  end: at + bytes,
  ascends: true,
  isDisjoint: true,
});

const moved = (order: Order, by: number): Order => ({
  ...order,
  first: order.first + by,
  last: order.last + by,
  end: order.end + by,
});

function behind(a: Order, b: Order): Order {
  const { last, end } = b;
  return {
    first: a.first,
    last,
    end,
    ascends: a.ascends && b.ascends && b.first >= a.last,
    isDisjoint: a.isDisjoint && b.isDisjoint && b.first >= a.end,
  };
}
