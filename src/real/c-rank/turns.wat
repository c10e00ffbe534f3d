;; Turns of the ranks of a thread whose data planes wait (docs/adr/0042-turns-in-webassembly.md): who goes on, the change of stacks, and the wait
;; when nobody can. As long as all ranks of the thread wait in their planes no JavaScript is involved, which would be interpreted for the
;; first thousands of turns. A rank that does anything else is JavaScript's (c-rank-turns.ts), and so is whatever lasts longer.
;;
;; All words are this thread's own, and so need no atomic operations; other threads read a rank's turn word, for people. In the head: rounds without
;; anything to do 0, has anything moved since the last sleep 4, the rank that runs 8, the one that goes on next, or −1, 12. In the record of
;; a rank, 16 bytes each behind the head: its wait 0 (0: none; 1: for a message; 2: at a gate; −1: the rank has ended), what was seen 4,
;; sleeps 8, where its turn word is 12 (real/messages/whereabouts.ts). In the table, for each rank: the look for messages, the look at the
;; gate, `unwind`, `goOn` and `rewound` (abi/stack-switch.wat).
(module
  (import "node" "memory" (memory 1 65536 shared))
  (import "turns" "functions" (table $functions 5 funcref))
  (import "turns" "head" (global $head i32))
  (import "turns" "ranks" (global $ranks i32))
  (import "turns" "yields" (global $yields i32))     ;; rounds in which the core is given away, before JavaScript waits
  (import "host" "mustGiveWay" (func $mustGiveWay (result i32))) ;; JavaScript looks at all ranks, or waits a moment
  (import "host" "moved" (func $hostMoved))          ;; a wait of JavaScript's is over
  (import "host" "yield" (func $yield))
  (import "host" "clock" (func $clock (result f64))) ;; milliseconds

  (type $look (func (result i32)))
  (type $act (func))

  (func (export "waitForMessage") (result i32)
    (call $wait (i32.const 1)))
  (func (export "waitAtGate") (result i32)
    (call $wait (i32.const 2)))

  ;; The rank that runs waits. The answer is that of `PlaneWaitPort`.
  (func $wait (param $kind i32) (result i32)
    (local $own i32) (local $record i32) (local $other i32)
    (local.set $own (i32.load offset=8 (global.get $head)))
    (local.set $record (call $recordOf (local.get $own)))
    (i32.store (local.get $record) (local.get $kind))
    (i32.store offset=4 (local.get $record) (i32.const 0))
    (i32.store offset=8 (local.get $record) (i32.const 0))
    (loop $again
      (block $looked
        (block $asked
          ;; All others, from the next one on.
          (local.set $other (local.get $own))
          (loop $next
            (local.set $other (call $after (local.get $other)))
            (if (i32.ne (local.get $other) (local.get $own))
              (then
                (local.set $kind (i32.load (call $recordOf (local.get $other))))
                (br_if $asked (i32.eqz (local.get $kind)))
                (if (i32.gt_s (local.get $kind) (i32.const 0))
                  (then
                    (if (call $hasNews (local.get $other))
                      (then (return (call $giveWay (local.get $own) (local.get $other)))))))
                (br $next))))
          ;; Nobody can go on.
          (if (i32.lt_u (i32.load (global.get $head)) (global.get $yields))
            (then
              (i32.store (global.get $head) (i32.add (i32.load (global.get $head)) (i32.const 1)))
              (call $yield)
              (br $looked))))
        (if (call $mustGiveWay) (then (return (call $giveWay (local.get $own) (i32.const -1))))))
      (br_if $again (i32.eqz (call $hasNews (local.get $own)))))
    (call $moved)
    (call $end (local.get $record)))

  ;; The stack of the rank that runs has been put back.
  (func (export "rewound") (result i32)
    (local $own i32)
    (local.set $own (i32.load offset=8 (global.get $head)))
    (call_indirect (type $act) (call $functionOf (local.get $own) (i32.const 4)))
    (call $end (call $recordOf (local.get $own))))

  ;; The wait is over: 1, or 0 when the engine must see to something.
  (func $end (param $record i32) (result i32)
    (i32.store (local.get $record) (i32.const 0))
    (i32.ne (i32.load offset=4 (local.get $record)) (i32.const 2)))

  ;; Is there anything for the plane of a rank that waits, or for its engine, to see to?
  (func $hasNews (export "hasNews") (param $rank i32) (result i32)
    (local $record i32)
    (local.set $record (call $recordOf (local.get $rank)))
    ;; What the engine must see to stays so.
    (if (i32.ne (i32.load offset=4 (local.get $record)) (i32.const 2))
      (then
        (i32.store offset=4 (local.get $record)
          (call_indirect (type $look)
            (call $functionOf (local.get $rank) (i32.sub (i32.load (local.get $record)) (i32.const 1)))))))
    (i32.load offset=4 (local.get $record)))

  ;; Another rank has the thread: that one, or −1, whom JavaScript finds.
  (func $giveWay (param $own i32) (param $next i32) (result i32)
    (i32.store offset=12 (global.get $head) (local.get $next))
    (call_indirect (type $act) (call $functionOf (local.get $own) (i32.const 2)))
    (i32.const 2))

  (func $moved
    (if (i32.ge_u (i32.load (global.get $head)) (global.get $yields))
      (then
        (call $hostMoved)
        (return)))
    (i32.store (global.get $head) (i32.const 0))
    (i32.store offset=4 (global.get $head) (i32.const 1)))

  ;; Lets a rank go on whose plane waits, then others, until JavaScript must see to the rank that ran last: 1, its program has stopped; 0,
  ;; it has come to its end.
  (func (export "run") (param $rank i32) (result i32)
    (local $record i32) (local $now i32)
    (local.set $now (call $ticks))
    (loop $next
      (local.set $record (call $recordOf (local.get $rank)))
      (i32.store offset=8 (global.get $head) (local.get $rank))
      (i32.store offset=12 (global.get $head) (i32.const -1))
      (i32.store (i32.load offset=12 (local.get $record)) (i32.or (local.get $now) (i32.const 1)))
      (call $moved)
      (if (i32.eqz (call_indirect (type $look) (call $functionOf (local.get $rank) (i32.const 3))))
        (then (return (i32.const 0))))
      ;; It has stopped elsewhere than in its plane, or JavaScript chooses.
      (if (i32.lt_s (local.tee $rank (i32.load offset=12 (global.get $head))) (i32.const 0))
        (then (return (i32.const 1))))
      (local.set $now (call $ticks))
      (i32.store (i32.load offset=12 (local.get $record)) (i32.or (local.get $now) (i32.const 2)))
      (br $next))
    (unreachable))

  ;; The clock of turn words, above their two bits.
  (func $ticks (result i32)
    (i32.shl (i32.wrap_i64 (i64.trunc_f64_u (call $clock))) (i32.const 2)))

  (func $after (param $rank i32) (result i32)
    (local.set $rank (i32.add (local.get $rank) (i32.const 1)))
    (select (i32.const 0) (local.get $rank) (i32.eq (local.get $rank) (global.get $ranks))))

  (func $recordOf (param $rank i32) (result i32)
    (i32.add (i32.add (global.get $head) (i32.const 16)) (i32.shl (local.get $rank) (i32.const 4))))

  (func $functionOf (param $rank i32) (param $which i32) (result i32)
    (i32.add (i32.mul (local.get $rank) (i32.const 5)) (local.get $which))))
