/** docs/api.md: its programs run as they stand and print what it says; its tables name what there is, and all of it. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { predefinedTypes } from "../src/core/comm/datatype/datatype-predefined.ts";
import { predefinedOps } from "../src/core/comm/op/op-predefined.ts";
import { Communicator } from "../src/mpi/communicator.ts";
import { Datatypes } from "../src/mpi/datatypes.ts";
import { GeneralRequest } from "../src/mpi/general-request.ts";
import { Group } from "../src/mpi/group.ts";
import { Info } from "../src/mpi/info.ts";
import { Mpi } from "../src/mpi/mpi.ts";
import { Message } from "../src/mpi/probes.ts";
import { PersistentRequest } from "../src/mpi/request.ts";
import { Status } from "../src/mpi/status.ts";
import { banyan, program, runMsMax, sorted } from "./harness.ts";
import { timeLimit } from "./patience.ts";

const page = readFileSync("docs/api.md", "utf8");
const limit = timeLimit(runMsMax);

/** A program, and what it prints if the page says so. */
const examples = [...page.matchAll(/^```ts\n(\/\/ run: .*)\n([\s\S]*?)^```\n(?:\n```text\n([\s\S]*?)^```\n)?/gm)].map(
  ([, how, text, output]) => ({ how: how!, text: text!, output }),
);

test("M7 docs: the page has programs for its areas, and no other mark than ours", () => {
  assert(examples.length >= 10, `${examples.length} programs`);
  for (const { how } of examples) assert.match(how, /^\/\/ run: -n \d+( --nodes \d+ --protocol \w+)?( sorted)?$/);
});

const argumentsOf = (how: string): string[] =>
  how
    .replace(/^\/\/ run: /, "")
    .replace(/ sorted$/, "")
    .split(" ");

for (const [index, { how, text, output }] of examples.entries()) {
  const line = page.slice(0, page.indexOf(text)).split("\n").length;
  test(`M7 docs: the program at docs/api.md:${line} runs and prints what the page says`, limit, async () => {
    const path = program(`docs/example-${index}.ts`, text);
    const { code, stdout, stderr } = await banyan(["run", ...argumentsOf(how), path]);
    assert.equal(code, 0, stderr);
    if (output === undefined) return;
    if (how.endsWith("sorted")) assert.deepEqual(sorted(stdout), sorted(output));
    else assert.equal(stdout, output);
  });
}

/** What the code has beside what programs shall know: for other files, and for the standard library. */
const inside: Readonly<Record<string, readonly string[]>> = {
  comm: ["finalize label raise"],
  info: ["Symbol(Symbol.iterator)"],
  mpi: ["finalize meetParents"],
  op: ["handle kind name"],
  request: ["conclude concludeQuietly isDone raiseError readStatus restart then waitToTheEnd"],
  type: ["elements envelope handle isContiguous layout shape signature"],
};

/** Methods and accessors of a class and of those it extends. */
function namesOf(prototype: object): string[] {
  if (prototype === Object.prototype) return [];
  return [...Reflect.ownKeys(prototype).map(String), ...namesOf(Object.getPrototypeOf(prototype) as object)];
}

/** As `namesOf`, with the fields of an instance. */
const allOf = (instance: object): string[] => [...Object.keys(instance), ...namesOf(Object.getPrototypeOf(instance))];

/** Fields of `mpi`, which only a rank has; the predefined datatypes are left out. */
async function fieldsOfMpi(): Promise<string[]> {
  const path = program(
    "docs/fields.ts",
    `import { mpi } from "banyan";
    const isType = (value: unknown) => typeof value === "object" && value !== null && "trueExtent" in value;
    console.log(Object.entries(mpi).filter(([, value]) => !isType(value)).map(([name]) => name).join(" "));`,
  );
  const { stdout } = await banyan(["run", path]);
  return stdout.trim().split(" ");
}

async function existing(): Promise<Record<string, ReadonlySet<string>>> {
  return {
    comm: new Set(namesOf(Communicator.prototype)),
    group: new Set(namesOf(Group.prototype)),
    info: new Set(namesOf(Info.prototype)),
    message: new Set([...namesOf(Message.prototype), "status"]),
    mpi: new Set([...namesOf(Mpi.prototype), ...(await fieldsOfMpi())]),
    "mpi.types": new Set(namesOf(Datatypes.prototype)),
    op: new Set(allOf(predefinedOps.SUM)),
    request: new Set([...namesOf(PersistentRequest.prototype), ...namesOf(GeneralRequest.prototype)]),
    status: new Set(allOf(new Status())),
    type: new Set(allOf(predefinedTypes.INT)),
  };
}

test("M7 docs: the tables of MPI names name what exists, and everything that does", limit, async () => {
  const tables = page.slice(page.indexOf("\n## MPI names"));
  const rows = tables.split("\n").filter((line) => /^\| .*`/.test(line));
  const named = rows.flatMap((row) =>
    [...row.replace(/^\|[^|]*\|/, "").matchAll(/`((?:mpi\.types|[a-z]+))\.(\w+)/g)].map(([, owner, name]) => ({
      owner: owner!,
      name: name!,
      row,
    })),
  );
  const owners = await existing();
  for (const { owner, name, row } of named) {
    const isType = owner === "mpi" && name in predefinedTypes;
    assert(isType || owners[owner]?.has(name), `there is no ${owner}.${name}: ${row}`);
  }
  for (const [owner, names] of Object.entries(owners)) {
    const known = new Set([
      ...named.filter((each) => each.owner === owner).map(({ name }) => name),
      ...(inside[owner] ?? []).flatMap((line) => line.split(" ")),
      ...["constructor", "types"],
    ]);
    assert.deepEqual([...names].filter((name) => !known.has(name)).sort(), [], `${owner} has what no table names`);
  }
  const calls = new Set(rows.flatMap((row) => row.match(/`MPI_\w+`/g) ?? []));
  assert(calls.size >= 200, `${calls.size} names of the standard`);
});
