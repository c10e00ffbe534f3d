;; Collectives of the data plane, the half in the node's memory (docs/adr/0025-collectives-in-the-data-plane.md): a blocking barrier,
;; broadcast, gather, exchange or reduction on a board of the node, as core/process/board-operations.ts does it. Every atomic operation is a
;; function of node.wat, which is called here as real/transport/shared-board.ts calls it; all other words of this file are the
;; process's own, or parts of a board that may be read or written in this step of a round (core/coll/engine/board.ts).
;;
;; Offsets in the meeting pass (core/coll/engine/meeting-pass.ts has the same): at a gate 0, completed 4, left 8, seats of communicators from
;; 64, operations by type from 128. In a seat (core/coll/engine/seat.ts): open 0, round 4, arrived 8, completed 12, kind 16, root 20,
;; bytes 24, board 28, members 32, member 36, long parts 40, room 44, lent from 48. In a board: arrived 128 and 256, gate 384, places of members
;; (+ 1) from 512, parts from 768; in a part: length 0, where it is lent 4 (core/coll/engine/lent-parts.ts has which calls are lending), bytes from 16, unless the length is more than a part has room for: then
;; they are in the long part. Kinds are the codes of
;; core/coll/engine/collective-call.ts: barrier 0, bcast 1, gather 2, scatter 4, allgather 6, alltoall 8, reduce 10, allreduce 11.
(module
  (import "node" "memory" (memory 1 65536 shared))
  (import "calls" "boardArrive" (func $boardArrive (param i32 i32) (result i32)))
  (import "calls" "boardOpen" (func $boardOpen (param i32 i32 i32 i32) (result i32)))
  (import "calls" "load" (func $load (param i32) (result i32)))
  (import "calls" "spin" (func $spin (param i32 i32 i32 i32 i32) (result i32)))
  (import "host" "yield" (func $yield))
  (import "host" "wakeMembers" (func $wakeMembers (param i32 i32))) ;; those of a board: some sleep over their sockets
  (import "messages" "bytesOf" (func $bytesOf (param i32 i32 i32) (result i32)))
  (import "messages" "communicatorOf" (func $communicatorOf (param i32) (result i32)))
  (import "messages" "hasNews" (func $hasNews (result i32)))
  (import "messages" "isAnyThere" (func $isAnyThere (result i32)))
  (import "messages" "slotOf" (func $slotOf (param i32) (result i32)))
  (import "messages" "firstTries" (func $firstTries (result i32)))
  (import "messages" "waited" (func $waited (param i32)))
  (import "fold" "fold" (func $fold (param i32 i32 i32 i32 i32)))
  (import "plane" "pass" (global $pass i32))           ;; where the pass is
  (import "plane" "meetings" (global $meetings i32))   ;; and its part for collectives
  (import "plane" "boardBytes" (global $boardBytes i32)) ;; of a member's part
  (import "plane" "partStride" (global $partStride i32))
  (import "plane" "combinedBytesMax" (global $combinedBytesMax i32)) ;; of all parts of a reduction
  (import "plane" "lentBlockBytesMax" (global $lentBlockBytesMax i32))
  (import "plane" "stop" (global $stop i32))           ;; the word by which others make the process stop
  (import "plane" "notices" (global $notices i32))     ;; how many notices there are
  (import "plane" "noticesSeen" (global $noticesSeen i32))
  (import "plane" "hasSockets" (global $hasSockets i32)) ;; as in plane.wat
  (import "plane" "listens" (global $listens i32))     ;; 1: a packet that has arrived is heard before the next collective
  (import "plane" "looks" (global $looks i32))         ;; polls of ring and gate in one spin
  (import "plane" "spins" (global $spins i32))         ;; spins, then yields, before the engine waits in its own way
  (import "plane" "yields" (global $yields i32))

  ;; The call that is being made: between `begin` and `end`.
  (global $seat (mut i32) (i32.const 0))
  (global $kind (mut i32) (i32.const 0))
  (global $root (mut i32) (i32.const 0))
  (global $bytes (mut i32) (i32.const 0))              ;; of one block
  (global $length (mut i32) (i32.const 0))             ;; of a member's part: of all blocks that it sends
  (global $operation (mut i32) (i32.const 0))          ;; counted from 0x20
  (global $format (mut i32) (i32.const 0))             ;; of the elements, see fold.wat
  (global $puts (mut i32) (i32.const 0))               ;; has this member bytes for the others?
  (global $takes (mut i32) (i32.const -1))             ;; the member whose part it takes, −1: none, −2: a block of each
  (global $parts (mut i32) (i32.const 0))              ;; the first part of the round's bank
  (global $lent (mut i32) (i32.const 0))               ;; in a lending call, where its part stays, in the program's memory; 1: it is on the board
  (global $isSecond (mut i32) (i32.const 0))           ;; is it the second round of a call in which parts were lent?
  (global $longs (mut i32) (i32.const 0))              ;; and the first long part, and the distance to the next
  (global $longStride (mut i32) (i32.const 0))
  (global $gate (mut i32) (i32.const 0))               ;; the gate of the board
  (global $open (mut i32) (i32.const 0))               ;; and its value when it is open to this member

  ;; The seat of a communicator, if the plane may meet its members now; 0: the engine must do the call.
  (func $seatOf (param $handle i32) (result i32)
    (local $seat i32)
    (local.set $seat (call $seatAt (local.get $handle)))
    (if (i32.eqz (local.get $seat)) (then (return (i32.const 0))))
    (if (i32.or (i32.load (global.get $pass)) (i32.load (global.get $stop)))
      (then
        ;; As in plane.wat: the pass may be opened on demand alone.
        (i32.store offset=32 (global.get $pass) (i32.const 1))
        (return (i32.const 0))))
    (if (i32.ne (i32.load (global.get $notices)) (i32.load (global.get $noticesSeen))) (then (return (i32.const 0))))
    (if (global.get $listens) (then (if (call $isAnyThere) (then (return (i32.const 0))))))
    (if (global.get $hasSockets) (then (if (call $hasNews) (then (return (i32.const 0))))))
    (select (local.get $seat) (i32.const 0) (i32.load (local.get $seat))))

  ;; 0: the communicator has none.
  (func $seatAt (param $handle i32) (result i32)
    (local $at i32)
    (if (i32.eqz (local.tee $at (call $communicatorOf (local.get $handle)))) (then (return (i32.const 0))))
    ;; Communicators have 16 bytes each in the pass, and seats a word each.
    (i32.load offset=64
      (i32.add (global.get $meetings) (i32.shr_u (i32.sub (local.get $at) (global.get $pass)) (i32.const 2)))))

  ;; May the plane take this call? `send` and `receive` are the program's buffers, MPI_IN_PLACE (1) among them; a broadcast has the
  ;; second alone. The results: the length, or −1 when the engine must do it and nothing has changed; where the bytes are that this
  ;; member gives, 0: it gives none; and its part of the board, into which the caller copies those beyond 16 before it calls `meet`.
  (func (export "begin")
    (param $kind i32) (param $send i32) (param $receive i32) (param $count i32) (param $type i32) (param $op i32)
    (param $root i32) (param $handle i32)
    (result i32 i32 i32)
    (local $seat i32) (local $bytes i32) (local $member i32) (local $operations i32) (local $from i32) (local $takes i32)
    (local $lent i32)
    (block $engine
      (br_if $engine (i32.eqz (local.tee $seat (call $seatOf (local.get $handle)))))
      (local.set $member (i32.load offset=36 (local.get $seat)))
      (local.set $takes (i32.const -1))
      (if (local.get $kind)
        (then
          (br_if $engine (i32.ge_u (local.get $root) (i32.load offset=32 (local.get $seat))))
          (if (i32.eq (local.get $kind) (i32.const 1))
            (then
              (local.set $bytes (call $bytesOf (local.get $receive) (local.get $count) (local.get $type)))
              (if (i32.eq (local.get $member) (local.get $root))
                (then (local.set $from (local.get $receive)))
                (else (local.set $takes (local.get $root)))))
            (else
              (local.set $from (local.get $send))
              (if (i32.or (i32.eq (local.get $kind) (i32.const 11)) (i32.eq (local.get $member) (local.get $root)))
                (then
                  (br_if $engine (i32.eq (local.get $send) (local.get $receive)))
                  (br_if $engine
                    (i32.lt_s (call $bytesOf (local.get $receive) (local.get $count) (local.get $type)) (i32.const 0)))
                  (if (i32.eq (local.get $send) (i32.const 1)) (then (local.set $from (local.get $receive))))
                  (local.set $takes (i32.const 0))))
              (local.set $bytes (call $bytesOf (local.get $from) (local.get $count) (local.get $type)))
              (br_if $engine (i32.lt_s (local.get $bytes) (i32.const 0)))
              (local.set $operations
                (i32.load offset=128
                  (i32.add (global.get $meetings)
                    (i32.shl (i32.sub (local.get $type) (i32.const 0x200)) (i32.const 2)))))
              (local.set $op (i32.sub (local.get $op) (i32.const 0x20)))
              (br_if $engine (i32.ge_u (local.get $op) (i32.const 24)))
              (br_if $engine
                (i32.eqz (i32.and (i32.shr_u (local.get $operations) (local.get $op)) (i32.const 1))))
              (global.set $operation (local.get $op))
              (global.set $format (i32.shr_u (local.get $operations) (i32.const 24)))))
          (if (call $isLendingPair (local.get $seat) (local.get $kind) (local.get $bytes))
            (then
              (local.set $lent (local.get $from))
              ;; What the other one fetches must stay until it has it.
              (if (i32.and (i32.eq (local.get $kind) (i32.const 11)) (i32.eq (local.get $from) (local.get $receive)))
                (then (local.set $lent (i32.const 1))))
              ;; Buffers that overlap are the engine's.
              (br_if $engine
                (i32.and
                  (i32.ne (local.get $from) (local.get $receive))
                  (i32.and
                    (i32.lt_u (local.get $from) (i32.add (local.get $receive) (local.get $bytes)))
                    (i32.lt_u (local.get $receive) (i32.add (local.get $from) (local.get $bytes)))))))
            (else
              (if (i32.ge_u (local.get $kind) (i32.const 10))
                (then
                  (br_if $engine
                    (i32.gt_u
                      (local.get $bytes)
                      (i32.div_u (global.get $combinedBytesMax) (i32.load offset=32 (local.get $seat)))))))))
          ;; Too long for a part, or −1.
          (br_if $engine (call $isTooLong (local.get $seat) (local.get $bytes) (local.get $bytes) (local.get $lent)))))
      (global.set $kind (local.get $kind))
      (global.set $root (local.get $root))
      (global.set $bytes (local.get $bytes))
      (return
        (call $ready (local.get $seat) (local.get $bytes) (local.get $from) (local.get $takes) (local.get $lent))))
    (i32.const -1) (i32.const 0) (i32.const 0))

  ;; Do two members reduce parts that are lent?
  (func $isLendingPair (param $seat i32) (param $kind i32) (param $bytes i32) (result i32)
    (i32.and
      (i32.and
        (i32.ge_u (local.get $kind) (i32.const 10))
        (i32.eq (i32.load offset=32 (local.get $seat)) (i32.const 2)))
      (i32.and
        (i32.ge_u (local.get $bytes) (i32.load offset=48 (local.get $seat)))
        (i32.eqz (i32.and (local.get $bytes) (i32.const 15))))))

  ;; Has the board no room for a part of that length? What is lent needs none.
  (func $isTooLong (param $seat i32) (param $length i32) (param $block i32) (param $lent i32) (result i32)
    (i32.gt_u
      (select (local.get $block) (local.get $length) (i32.gt_u (local.get $lent) (i32.const 1)))
      (select (global.get $lentBlockBytesMax) (i32.load offset=44 (local.get $seat))
        (i32.gt_u (local.get $lent) (i32.const 1)))))

  ;; The same for collectives with a block for each member: gather, allgather, alltoall.
  (func (export "beginBlocks")
    (param $kind i32) (param $send i32) (param $sendCount i32) (param $sendType i32)
    (param $receive i32) (param $receiveCount i32) (param $receiveType i32) (param $root i32) (param $handle i32)
    (result i32 i32 i32)
    (local $seat i32) (local $members i32) (local $member i32) (local $isForAll i32) (local $getsAll i32) (local $bytes i32)
    (local $length i32) (local $from i32) (local $lends i32) (local $room i32)
    (block $engine
      (br_if $engine (i32.eqz (local.tee $seat (call $seatOf (local.get $handle)))))
      (local.set $members (i32.load offset=32 (local.get $seat)))
      (local.set $member (i32.load offset=36 (local.get $seat)))
      (local.set $lends (i32.ne (local.get $kind) (i32.const 2)))
      (local.set $room (i32.load offset=44 (local.get $seat)))
      ;; (Lending calls have no bound where there are none.)
      (if (i32.and
            (local.get $lends)
            (i32.and
              (i32.le_u (i32.load offset=48 (local.get $seat)) (global.get $lentBlockBytesMax))
              (i32.lt_u (local.get $room) (global.get $lentBlockBytesMax))))
        (then (local.set $room (global.get $lentBlockBytesMax))))
      (br_if $engine (i32.ge_u (local.get $root) (local.get $members)))
      (local.set $isForAll (i32.eq (local.get $kind) (i32.const 8)))
      (local.set $getsAll
        (i32.or (i32.ne (local.get $kind) (i32.const 2)) (i32.eq (local.get $member) (local.get $root))))
      (if (local.get $getsAll)
        (then
          (local.set $bytes (call $bytesOf (local.get $receive) (local.get $receiveCount) (local.get $receiveType)))
          ;; No product overflows.
          (br_if $engine (i32.gt_u (local.get $bytes) (local.get $room)))
          (br_if $engine
            (i32.lt_s
              (call $bytesOf
                (local.get $receive)
                (i32.mul (local.get $receiveCount) (local.get $members))
                (local.get $receiveType))
              (i32.const 0)))))
      (if (i32.and (local.get $getsAll) (i32.eq (local.get $send) (i32.const 1)))
        (then
          (local.set $from (local.get $receive))
          ;; What others fetch must stay until they have it.
          (if (local.get $isForAll)
            (then (local.set $lends (i32.const 2)))
            (else
              (local.set $from
                (i32.add (local.get $receive) (i32.mul (local.get $member) (local.get $bytes)))))))
        (else
          (local.set $from (local.get $send))
          (local.set $length (call $bytesOf (local.get $send) (local.get $sendCount) (local.get $sendType)))
          (br_if $engine (i32.gt_u (local.get $length) (local.get $room)))
          (if (local.get $getsAll)
            (then
              (br_if $engine (i32.ne (local.get $length) (local.get $bytes)))
              (if (local.get $isForAll)
                (then
                  (br_if $engine
                    (i32.lt_s
                      (call $bytesOf
                        (local.get $send)
                        (i32.mul (local.get $sendCount) (local.get $members))
                        (local.get $sendType))
                      (i32.const 0)))
                  (local.set $length (i32.mul (local.get $bytes) (local.get $members)))))
              ;; Buffers that overlap are the engine's to refuse.
              (br_if $engine
                (i32.and
                  (i32.lt_u
                    (local.get $send)
                    (i32.add (local.get $receive) (i32.mul (local.get $bytes) (local.get $members))))
                  (i32.lt_u (local.get $receive) (i32.add (local.get $send) (local.get $length))))))
            (else (local.set $bytes (local.get $length))))))
      (local.set $length
        (select (i32.mul (local.get $bytes) (local.get $members)) (local.get $bytes) (local.get $isForAll)))
      ;; 0: the call is not lending; 1: the part is on the board.
      (if (i32.or
            (i32.lt_u (local.get $length) (i32.load offset=48 (local.get $seat)))
            (i32.lt_u (local.get $bytes)
              (select
                (i32.shr_u (i32.load offset=48 (local.get $seat)) (i32.const 2))
                (i32.const 0)
                (local.get $isForAll))))
        (then (local.set $lends (i32.const 0))))
      (if (i32.eq (local.get $lends) (i32.const 1))
        (then (local.set $lends (local.get $from)))
        (else (local.set $lends (i32.ne (local.get $lends) (i32.const 0)))))
      (br_if $engine
        (call $isTooLong (local.get $seat) (local.get $length) (local.get $bytes) (local.get $lends)))
      (global.set $kind (local.get $kind))
      (global.set $root (local.get $root))
      (global.set $bytes (local.get $bytes))
      (return
        (call $ready (local.get $seat) (local.get $length) (local.get $from)
          (select (i32.const -2) (i32.const -1) (local.get $getsAll)) (local.get $lends))))
    (i32.const -1) (i32.const 0) (i32.const 0))

  ;; And for the one whose root gives a block to each member.
  (func (export "beginScatter")
    (param $send i32) (param $sendCount i32) (param $sendType i32)
    (param $receive i32) (param $receiveCount i32) (param $receiveType i32) (param $root i32) (param $handle i32)
    (result i32 i32 i32)
    (local $seat i32) (local $members i32) (local $isRoot i32) (local $bytes i32) (local $length i32) (local $from i32)
    (local $takes i32)
    (block $engine
      (br_if $engine (i32.eqz (local.tee $seat (call $seatOf (local.get $handle)))))
      (local.set $members (i32.load offset=32 (local.get $seat)))
      (br_if $engine (i32.ge_u (local.get $root) (local.get $members)))
      (local.set $isRoot (i32.eq (i32.load offset=36 (local.get $seat)) (local.get $root)))
      (local.set $takes (i32.const -2))
      (if (i32.and (local.get $isRoot) (i32.eq (local.get $receive) (i32.const 1)))
        (then (local.set $takes (i32.const -1)))
        (else
          (local.set $bytes (call $bytesOf (local.get $receive) (local.get $receiveCount) (local.get $receiveType)))
          ;; No more than a part has room for: no product overflows.
          (br_if $engine (i32.gt_u (local.get $bytes) (i32.load offset=44 (local.get $seat))))))
      (if (local.get $isRoot)
        (then
          (local.set $from (local.get $send))
          (local.set $length (call $bytesOf (local.get $send) (local.get $sendCount) (local.get $sendType)))
          (br_if $engine (i32.gt_u (local.get $length) (i32.load offset=44 (local.get $seat))))
          (br_if $engine
            (i32.lt_s
              (call $bytesOf
                (local.get $send)
                (i32.mul (local.get $sendCount) (local.get $members))
                (local.get $sendType))
              (i32.const 0)))
          (if (i32.eq (local.get $takes) (i32.const -2))
            (then
              (br_if $engine (i32.ne (local.get $length) (local.get $bytes)))
              ;; Buffers that overlap are the engine's to refuse.
              (br_if $engine
                (i32.and
                  (i32.lt_u
                    (local.get $send)
                    (i32.add (local.get $receive) (local.get $bytes)))
                  (i32.lt_u
                    (local.get $receive)
                    (i32.add (local.get $send) (i32.mul (local.get $bytes) (local.get $members))))))))
          (local.set $bytes (local.get $length))))
      (local.set $length (i32.mul (local.get $bytes) (local.get $members)))
      (br_if $engine (i32.gt_u (local.get $length) (i32.load offset=44 (local.get $seat))))
      (global.set $kind (i32.const 4))
      (global.set $root (local.get $root))
      (global.set $bytes (local.get $bytes))
      (return (call $ready (local.get $seat) (local.get $length) (local.get $from) (local.get $takes) (i32.const 0))))
    (i32.const -1) (i32.const 0) (i32.const 0))

  ;; The plane takes the call; `lent`: see there, 0: it is not lending. The results are those of `begin`.
  (func $ready
    (param $seat i32) (param $length i32) (param $from i32) (param $takes i32) (param $lent i32) (result i32 i32 i32)
    (if (i32.eqz (local.get $length)) (then (local.set $from (i32.const 0))))
    (global.set $seat (local.get $seat))
    (global.set $length (local.get $length))
    (global.set $puts (local.get $from))
    (global.set $takes (local.get $takes))
    (global.set $isSecond (i32.const 0))
    (global.set $lent (local.get $lent))
    (if (i32.gt_u (local.get $lent) (i32.const 1)) (then (local.set $from (i32.const 0))))
    (call $enter (local.get $seat))
    (local.get $length)
    (local.get $from)
    (call $bytesAt (i32.load offset=36 (local.get $seat))))

  ;; The parts of the seat's round are the current ones.
  (func $enter (param $seat i32)
    (local $bank i32)
    ;; Parts of the other bank come first.
    (local.set $bank
      (i32.mul
        (i32.and (i32.load offset=4 (local.get $seat)) (i32.const 1))
        (i32.load offset=32 (local.get $seat))))
    (global.set $parts
      (i32.add
        (i32.add (i32.load offset=28 (local.get $seat)) (i32.const 768))
        (i32.mul (local.get $bank) (global.get $partStride))))
    (global.set $longStride (i32.add (i32.load offset=44 (local.get $seat)) (i32.const 128)))
    (global.set $longs
      (i32.add (i32.load offset=40 (local.get $seat)) (i32.mul (local.get $bank) (global.get $longStride)))))

  ;; Where the bytes of a member are whose part has the length of this member's.
  (func $bytesAt (param $member i32) (result i32)
    (if (result i32) (i32.gt_u (global.get $length) (global.get $boardBytes))
      (then (i32.add (global.get $longs) (i32.mul (local.get $member) (global.get $longStride))))
      (else (i32.add (call $partOf (local.get $member)) (i32.const 16)))))

  (func $partOf (param $member i32) (result i32)
    (i32.add (global.get $parts) (i32.mul (local.get $member) (global.get $partStride))))

  ;; Meets the others. `first` are the bytes that this member gives, up to 16 of them. The results: −2 when the gate stays shut, and the
  ;; caller waits in another way and calls `resume`, or `leave`; −1 when the engine goes on with the call; 0 when it is complete; 1 when
  ;; it is complete and the second result is what this member gets; 2 when it gets a block of each member, see `blockOf`; in lending calls 3
  ;; when it gets these, see `lentBlockOf`, 4 when it makes the result of a reduction, see `pair`, 5 when it gets nothing; otherwise where its bytes
  ;; are. The caller copies these, or the blocks, and calls `end`, in lending calls `meetAgain`.
  (func $meet (export "meet") (param $first v128) (result i32 v128)
    (local $seat i32) (local $board i32) (local $members i32) (local $round i32) (local $arrived i32) (local $part i32)
    (local $seen i32)
    (local.set $seat (global.get $seat))
    (local.set $board (i32.load offset=28 (local.get $seat)))
    (local.set $members (i32.load offset=32 (local.get $seat)))
    (local.set $round (i32.load offset=4 (local.get $seat)))
    (local.set $part (call $partOf (i32.load offset=36 (local.get $seat))))
    (i32.store (local.get $part) (global.get $length))
    (i32.store offset=4 (local.get $part) (global.get $lent))
    (if (i32.and (i32.ne (global.get $puts) (i32.const 0)) (i32.le_u (global.get $length) (i32.const 16)))
      (then (v128.store offset=16 (local.get $part) (local.get $first))))
    (local.set $arrived
      (i32.add (i32.add (local.get $board) (i32.const 128))
        (i32.shl (i32.and (local.get $round) (i32.const 1)) (i32.const 7))))
    (local.set $round (i32.add (local.get $round) (i32.const 1)))
    (global.set $gate (i32.add (local.get $board) (i32.const 384)))
    (global.set $open (local.get $round))
    (block $shut
      (if (call $boardArrive (local.get $arrived) (local.get $members))
        (then
          (if (i32.ge_u (global.get $kind) (i32.const 10)) (then (call $combine (local.get $members))))
          (if (call $boardOpen (local.get $board) (local.get $arrived) (local.get $round) (local.get $members))
            (then (call $wakeMembers (local.get $board) (local.get $members)))))
        (else
          (br_if $shut (i32.eqz (local.tee $seen (call $await))))
          (if (i32.eq (local.get $seen) (i32.const 2))
            (then
              (call $leave)
              (return (i32.const -1) (local.get $first))))))
      (return (call $take)))
    (i32.const -2) (local.get $first))

  ;; A look at the gate at which this member stands: 1 when it is open; 2 when something else has happened that the engine must look
  ;; at: a packet, news of a death, the wish that the process stop; 0 otherwise.
  (func (export "look") (result i32)
    (call $lookOften (i32.const 1)))
  (func $lookOften (param $looks i32) (result i32)
    (local $position i32) (local $slot i32)
    (local.set $position (i32.load offset=8 (global.get $pass)))
    (local.set $slot (call $slotOf (local.get $position)))
    (local.set $position (i32.add (local.get $position) (i32.const 1)))
    (if (call $spin (local.get $slot) (local.get $position) (global.get $gate) (global.get $open) (local.get $looks))
      (then
        (return (select (i32.const 1) (i32.const 2) (i32.eq (call $load (global.get $gate)) (global.get $open))))))
    (if (i32.load (global.get $stop)) (then (return (i32.const 2))))
    (select (i32.const 2) (i32.const 0)
      (i32.ne (i32.load (global.get $notices)) (i32.load (global.get $noticesSeen)))))

  ;; This member has what it wants, and others may still fetch what it has lent. The results are those of `meet`.
  (func (export "meetAgain") (result i32 v128)
    (i32.store offset=4 (global.get $seat) (i32.add (i32.load offset=4 (global.get $seat)) (i32.const 1)))
    (call $enter (global.get $seat))
    (global.set $isSecond (i32.const 1))
    (global.set $length (i32.const 0))
    (global.set $puts (i32.const 0))
    (global.set $takes (i32.const -1))
    (global.set $lent (i32.const 0))
    (call $meet (v128.const i64x2 0 0)))

  ;; The caller has waited: as `meet`, but the engine goes on if the gate is still shut.
  (func (export "resume") (result i32 v128)
    (if (i32.ne (call $load (global.get $gate)) (global.get $open))
      (then
        (call $leave)
        (return (i32.const -1) (v128.const i64x2 0 0))))
    (call $take))

  ;; The gate is open: what this member gets, as results of `meet`.
  (func $take (result i32 v128)
    (local $part i32) (local $first v128)
    (block $engine
      (if (global.get $lent)
        (then
          (br_if $engine (i32.eqz (call $doAllLend)))
          (if (i32.eq (global.get $takes) (i32.const -1)) (then (return (i32.const 5) (local.get $first))))
          (return (select (i32.const 3) (i32.const 4) (i32.eq (global.get $takes) (i32.const -2))) (local.get $first))))
      (if (i32.eq (global.get $takes) (i32.const -1))
        (then
          (call $end)
          (return (i32.const 0) (local.get $first))))
      (if (i32.eq (global.get $takes) (i32.const -2)) (then (return (call $takeBlocks) (local.get $first))))
      (local.set $part (call $partOf (global.get $takes)))
      ;; Members that disagree about the length: the engine takes what fits, and says so.
      (br_if $engine (i32.ne (i32.load (local.get $part)) (global.get $length)))
      (if (i32.gt_u (global.get $length) (i32.const 16))
        (then (return (call $bytesAt (global.get $takes)) (local.get $first))))
      (if (i32.eqz (global.get $length))
        (then
          (call $end)
          (return (i32.const 0) (local.get $first))))
      (local.set $first (v128.load offset=16 (local.get $part)))
      (call $end)
      (return (i32.const 1) (local.get $first)))
    (call $leave)
    (i32.const -1) (local.get $first))

  ;; Have all members come to a lending call, with parts of this length? If not, the engine says so.
  (func $doAllLend (result i32)
    (local $i i32) (local $part i32)
    (loop $next
      (local.set $part (call $partOf (local.get $i)))
      (if (i32.or
            (i32.ne (i32.load (local.get $part)) (global.get $length))
            (i32.eqz (i32.load offset=4 (local.get $part))))
        (then (return (i32.const 0))))
      (br_if $next
        (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.load offset=32 (global.get $seat)))))
    (i32.const 1))

  ;; The first of these results, for a member that gets blocks.
  (func $takeBlocks (result i32)
    (local $i i32)
    (loop $next
      (if (i32.ne (i32.load (call $partOf (local.get $i))) (global.get $length))
        (then
          (call $leave)
          (return (i32.const -1))))
      (br_if $next
        (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.load offset=32 (global.get $seat)))))
    (if (global.get $length) (then (return (i32.const 2))))
    (call $end)
    (i32.const 0))

  ;; How many blocks this member gets, the length of each; which one is its own, of gathers and where it has lent its part, and where the program
  ;; has that. −1: none is. (An exchange takes its own from the board, too: 64 KiB are there sooner.)
  (func (export "blocks") (result i32 i32 i32 i32)
    (local $own i32)
    ;; Kinds 2 and 6.
    (local.set $own
      (select (i32.load offset=36 (global.get $seat)) (i32.const -1)
        (i32.or
          (i32.and (i32.shr_u (i32.const 0x44) (global.get $kind)) (i32.const 1))
          (i32.gt_u (global.get $lent) (i32.const 1)))))
    (select (i32.const 1) (i32.load offset=32 (global.get $seat)) (i32.eq (global.get $kind) (i32.const 4)))
    (global.get $bytes)
    (local.get $own)
    (i32.add (global.get $puts)
      (select (i32.mul (local.get $own) (global.get $bytes)) (i32.const 0) (i32.eq (global.get $kind) (i32.const 8)))))

  ;; Where the block of that member is: of a scatter it is the root's.
  (func $blockOf (export "blockOf") (param $member i32) (result i32)
    (i32.add
      (call $bytesAt (select (global.get $root) (local.get $member) (i32.eq (global.get $kind) (i32.const 4))))
      (call $inPart)))
  ;; And where in a part: those of a scatter (4) and an exchange (8) have a block for each member.
  (func $inPart (result i32)
    (select
      (i32.mul (i32.load offset=36 (global.get $seat)) (global.get $bytes))
      (i32.const 0)
      (i32.and (i32.shr_u (i32.const 0x110) (global.get $kind)) (i32.const 1))))
  ;; Where that member has lent it, in the memory of its program, 0: it is on the board; and the member's place in the node.
  (func $lentBlockOf (export "lentBlockOf") (param $member i32) (result i32 i32)
    (local $lent i32)
    (local.set $lent (i32.load offset=4 (call $partOf (local.get $member))))
    (select (i32.add (local.get $lent) (call $inPart)) (i32.const 0) (i32.gt_u (local.get $lent) (i32.const 1)))
    (i32.sub
      (i32.load offset=512
        (i32.add (i32.load offset=28 (global.get $seat)) (i32.shl (local.get $member) (i32.const 2))))
      (i32.const 1)))
  ;; And what it begins with.
  (func (export "startOf") (param $member i32) (result v128)
    (v128.load (call $blockOf (local.get $member))))

  ;; What a reduction of two members needs, in the order of `PlanePair.combine` (pair.ts).
  (func (export "pair") (result i32 i32 i32 i32 i32 i32 i32)
    (local $member i32)
    (local.set $member (i32.load offset=36 (global.get $seat)))
    (call $lentBlockOf (i32.sub (i32.const 1) (local.get $member)))
    (call $bytesAt (i32.sub (i32.const 1) (local.get $member)))
    (i32.eqz (local.get $member))
    (global.get $format)
    (global.get $operation)
    (global.get $puts))

  ;; This member has arrived at the gate, and the engine goes on with its call.
  (func $leave (export "leave")
    (i32.store offset=8 (global.get $seat) (i32.add (global.get $isSecond) (i32.const 1)))
    (i32.store (global.get $meetings) (i32.const 1))
    (i32.store offset=8 (global.get $meetings) (i32.add (i32.load offset=8 (global.get $meetings)) (i32.const 1))))

  ;; The call is complete: the next round's parts are current, and the communicator has something to count.
  (func $end (export "end")
    (local $seat i32)
    (local.set $seat (global.get $seat))
    (i32.store offset=4 (local.get $seat) (i32.add (i32.load offset=4 (local.get $seat)) (i32.const 1)))
    (i32.store offset=12 (local.get $seat) (i32.add (i32.load offset=12 (local.get $seat)) (i32.const 1)))
    (i32.store offset=16 (local.get $seat) (global.get $kind))
    ;; Broadcasts (1), gathers (2), scatters (4) and reductions to one (10) have a root; all but barriers have a length.
    (i32.store offset=20 (local.get $seat)
      (select (global.get $root) (i32.const -1)
        (i32.and (i32.shr_u (i32.const 0x416) (global.get $kind)) (i32.const 1))))
    (i32.store offset=24 (local.get $seat)
      (select (global.get $bytes) (i32.const -1) (global.get $kind)))
    (i32.store offset=4 (global.get $meetings) (i32.add (i32.load offset=4 (global.get $meetings)) (i32.const 1))))

  ;; Waits a while for the gate, as `look` says it.
  (func $await (result i32)
    (local $tries i32) (local $seen i32)
    (if (local.tee $seen (call $lookOften (i32.const 1))) (then (return (local.get $seen))))
    (local.set $tries (call $firstTries))
    (loop $again
      (if (i32.ge_u (local.get $tries) (i32.add (global.get $spins) (global.get $yields)))
        (then (return (i32.const 0))))
      (if (i32.ge_u (local.get $tries) (global.get $spins)) (then (call $yield)))
      (local.set $tries (i32.add (local.get $tries) (i32.const 1)))
      (br_if $again
        (i32.eqz
          (local.tee $seen
            (call $lookOften
              (select (global.get $looks) (i32.const 1) (i32.le_u (local.get $tries) (global.get $spins))))))))
    (call $waited (local.get $tries))
    (local.get $seen))

  ;; The last member combines all parts into part 0, in the canonical order (core/coll/engine/reduction-order.ts): pairs first, so that
  ;; 2^k virtual ranks are left, then blocks of 1, 2, 4 … of them. Parts of different lengths have no result: length −1.
  (func $combine (param $members i32)
    (local $i i32) (local $pairs i32) (local $virtuals i32) (local $width i32)
    ;; In a lending call whoever wants the result makes it, if there is one.
    (if (global.get $lent)
      (then
        (if (i32.eqz (call $doAllLend)) (then (i32.store (global.get $parts) (i32.const -1))))
        (return)))
    (loop $next
      (if (i32.ne (i32.load (call $partOf (local.get $i))) (global.get $length))
        (then
          (i32.store (global.get $parts) (i32.const -1))
          (return)))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $members))))
    (local.set $virtuals
      (i32.shl (i32.const 1) (i32.sub (i32.const 31) (i32.clz (local.get $members)))))
    (local.set $pairs (i32.sub (local.get $members) (local.get $virtuals)))
    (local.set $i (i32.const 0))
    (loop $next
      (if (i32.lt_u (local.get $i) (local.get $pairs))
        (then
          (call $combineTwo
            (i32.shl (local.get $i) (i32.const 1))
            (i32.add (i32.shl (local.get $i) (i32.const 1)) (i32.const 1)))
          (local.set $i (i32.add (local.get $i) (i32.const 1)))
          (br $next))))
    (local.set $width (i32.const 1))
    (loop $wider
      (if (i32.lt_u (local.get $width) (local.get $virtuals))
        (then
          (local.set $i (i32.const 0))
          (loop $next
            (call $combineTwo
              (call $firstOf (local.get $i) (local.get $pairs))
              (call $firstOf (i32.add (local.get $i) (local.get $width)) (local.get $pairs)))
            (local.set $i (i32.add (local.get $i) (i32.shl (local.get $width) (i32.const 1))))
            (br_if $next (i32.lt_u (local.get $i) (local.get $virtuals))))
          (local.set $width (i32.shl (local.get $width) (i32.const 1)))
          (br $wider)))))

  ;; The lowest member in a virtual rank, of which the first `pairs` are pairs.
  (func $firstOf (param $virtual i32) (param $pairs i32) (result i32)
    (select (i32.shl (local.get $virtual) (i32.const 1)) (i32.add (local.get $virtual) (local.get $pairs))
      (i32.lt_u (local.get $virtual) (local.get $pairs))))

  (func $combineTwo (param $left i32) (param $right i32)
    (call $fold
      (call $bytesAt (local.get $left))
      (call $bytesAt (local.get $right))
      (global.get $length)
      (global.get $format) (global.get $operation))))
