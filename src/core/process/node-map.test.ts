import { equal } from "node:assert/strict";
import { test } from "node:test";
import { Group } from "../comm/group.ts";
import { memberNodesOf, type NodeMap, nodeMapOf } from "./node-map.ts";

test("rule 6: the nodes of a group are those of its members in the map, found once for a group", () => {
  const map = nodeMapOf([0, 0, 1, 1, 7]);
  const group = Group.of([4, 1, 2]);
  const nodes = memberNodesOf(group, map);
  equal(nodes?.join(), "7,0,1");
  equal(memberNodesOf(group, map), nodes);
  equal(memberNodesOf(Group.of([2, 3]), map), null, "all members are on one node");
});

test("rule 6: neither a placement nor any other table passes for a node map", () => {
  // @ts-expect-error: the compiler tells them apart, and complains here if it does not any more.
  const wrong: NodeMap = [0, 1];
  equal(wrong.length, 2);
});
