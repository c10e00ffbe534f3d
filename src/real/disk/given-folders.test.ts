/** X8: names, links and folders that change; programs in C that use them are in test/sandbox.test.ts. */
import assert from "node:assert/strict";
import {
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { GivenFolders } from "./given-folders.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "banyan-test-")));
after(() => rmSync(root, { recursive: true }));
/** Concatenated, not normalised: `..` is part of the test. */
const below = (name: string): string => `${root}/${name}`;

function write(name: string, text = name): void {
  mkdirSync(dirname(below(name)), { recursive: true });
  writeFileSync(below(name), text);
}

write("given/file");
write("given/sub/deep/file");
write("data/file");
write("outside/file");
mkdirSync(below("given/nested"));
for (const [name, target] of [
  ["near", "file"],
  ["down", "sub/deep"],
  ["up", "sub/deep/../../file"],
  ["whole", below("given/sub/deep")],
  ["data", below("data")],
  ["named", "/named/file"],
  ["beside", "../data/file"],
  ["out", below("outside")],
  ["out-up", "../outside"],
  ["chain", "chain-2"],
  ["chain-2", "out/file"],
  ["dangling", "sub/new"],
  ["circle", "circle"],
  ["proc", "/proc/self"],
] as const) {
  symlinkSync(target, below(`given/${name}`));
}
const folders = new GivenFolders([
  { name: ".", path: below("given") },
  { name: "/named", path: below("data") },
]);
after(() => folders.close());
const resolve = (name: string, follow = true): string => folders.resolve(below(name), follow).slice(root.length + 1);
const isCode = (code: string) => (error: unknown) => error instanceof Error && "code" in error && error.code === code;

test("X8 names and links that stay in the folders given lead where they lead for everybody", () => {
  assert.equal(resolve("given"), "given");
  assert.equal(resolve("given/."), "given");
  assert.equal(resolve("given/near"), "given/file");
  assert.equal(resolve("given/near", false), "given/near");
  assert.equal(resolve("given/down/file"), "given/sub/deep/file");
  assert.equal(resolve("given/down/../../file"), "given/file");
  assert.equal(resolve("given/up"), "given/file");
  assert.equal(resolve("given/whole/file"), "given/sub/deep/file");
  assert.equal(resolve("given/dangling"), "given/sub/new");
  assert.equal(resolve("given/sub/nothing"), "given/sub/nothing");
});

test("X8 a link from one given folder to another is followed, by its path or its name", () => {
  assert.equal(resolve("given/data/file"), "data/file");
  assert.equal(resolve("given/beside"), "data/file");
  assert.equal(resolve("given/named"), "data/file");
});

test("X8 what leads out is refused, at the end of a name or on the way", () => {
  for (const name of [
    "outside/file",
    "given/../outside/file",
    "given/sub/../../outside/file",
    "given/out",
    "given/out/file",
    "given/out/../given/file",
    "given/out-up/file",
    "given/chain",
    "given/proc/mem",
    "givenfile",
    "",
  ]) {
    assert.throws(() => resolve(name), isCode("ENOTCAPABLE"), name);
    assert.throws(
      () => folders.open(below(name), constants.O_RDONLY),
      isCode(name.endsWith("chain") || name.endsWith("/out") ? "ELOOP" : "ENOTCAPABLE"),
      name,
    );
  }
});

test("X8 errors are the system's", () => {
  assert.throws(() => resolve("given/nothing/file"), isCode("ENOENT"));
  assert.throws(() => resolve("given/nothing/../file"), isCode("ENOENT"));
  assert.throws(() => resolve("given/file/file"), isCode("ENOTDIR"));
  assert.throws(() => resolve("given/circle"), isCode("ELOOP"));
  assert.throws(() => resolve(`given/${"x".repeat(5000)}`), isCode("ENAMETOOLONG"));
  assert.throws(() => resolve("given/a\0b"), isCode("EINVAL"));
  const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL } = constants;
  assert.throws(() => folders.open(below("given/nothing"), O_RDONLY), isCode("ENOENT"));
  assert.throws(() => folders.open(below("given/file"), O_WRONLY | O_CREAT | O_EXCL), isCode("EEXIST"));
  assert.throws(() => folders.open(below("given/dangling"), O_WRONLY | O_CREAT), isCode("ELOOP"));
  assert.throws(() => folders.open(below("given/sub"), O_WRONLY | O_CREAT), isCode("EISDIR"));
  assert.throws(() => folders.list(below("given/file")), isCode("ENOTDIR"));
});

test("X8 a given folder stays what it was; a link in its place is not followed by a later life", () => {
  const given = [{ name: "nested", path: below("given/nested") }];
  const first = new GivenFolders(given);
  const { O_WRONLY, O_CREAT } = constants;
  closeSync(first.open(below("given/nested/early"), O_WRONLY | O_CREAT));
  renameSync(below("given/nested"), below("given/moved"));
  symlinkSync(below("outside"), below("given/nested"));
  closeSync(first.open(below("given/nested/late"), O_WRONLY | O_CREAT));
  assert.deepEqual(readdirSync(below("given/moved")).sort(), ["early", "late"]);
  first.close();
  const second = new GivenFolders(given);
  assert.throws(() => second.open(below("given/nested/new"), O_WRONLY | O_CREAT), isCode("ENOTCAPABLE"));
  assert.deepEqual(readdirSync(below("outside")), ["file"]);
  second.close();
});

test("X8 the kernel's files are nobody's, even for who is given everything; nor do devices and links of /proc get opened", () => {
  const all = new GivenFolders([{ name: "/", path: "/" }]);
  const { O_RDONLY, O_RDWR } = constants;
  assert.equal(readFileSync(all.open(below("given/file"), O_RDONLY), "utf8"), "given/file");
  for (const path of [
    "/proc/self/mem",
    "/proc/self/environ",
    "/proc/version",
    "/sys/kernel/uevent_seqnum",
    "/proc/self/fd/0",
  ]) {
    assert.throws(() => all.open(path, O_RDWR), isCode("ENOTSUP"), path);
    assert.throws(() => all.at(path, () => assert.fail("it was reached")), isCode("ENOTSUP"), path);
    if (!path.includes("/fd/")) assert.throws(() => all.resolve(path, true), isCode("ENOTSUP"), path);
  }
  assert.throws(() => all.list("/proc"), isCode("ENOTSUP"));
  assert.throws(() => all.open("/dev/tty", O_RDONLY), isCode("ENOTSUP"));
  closeSync(all.open("/dev/null", O_RDWR));
  all.close();
});

test("X8 no descriptor is left open, whatever a name has come to", () => {
  const open = (): number => readdirSync("/proc/self/fd").length;
  resolve("given/down/file");
  const before = open();
  for (let i = 0; i < 10; i++) {
    for (const name of ["given/down/file", "given/down/../../data/file", "given/near", "given/dangling"]) resolve(name);
    for (const name of ["given/out/file", "given/circle", "given/file/x", "given/sub/deep/../../../outside"]) {
      assert.throws(() => resolve(name));
    }
    assert.throws(() => folders.open(below("given/sub"), constants.O_WRONLY), isCode("EISDIR"));
    folders.list(below("given/sub/deep"));
  }
  assert.equal(open(), before);
  unlinkSync(below("given/circle"));
});
