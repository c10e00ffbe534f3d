;; Light requests in the node's memory (docs/adr/0076-requests-in-the-data-plane.md): sends that have left, and receives that wait for a packet of
;; the ring or have had it. plane.wat has what there is to know of rings and of the pass; requests-face.wat copies, and is called by the
;; program.
;;
;; Packets are taken in the order in which they have come, and each goes to the first receive that wants it, in the order in which those were
;; begun. One that nobody wants stays where it is.
;;
;; Offsets in the table (core/p2p/light-requests.ts has the same): requests that are the plane's 0, of these those that wait 4, places in use 8 (64 bits),
;; order of those that wait from 16 (bytes), how many the engine begins before the plane tries again 84, and how many it was given last 88, requests from
;; 128 (64 bytes each). In a request: state 0 (1 waits, 2 received, 3 sent, 4 the
;; engine's), buffer 4, room 8, process 12 (−1: any), tag 16 (−2: any), context 20, communicator 24, count 28, type 32, source 36, and what
;; came: source 40, tag 44, bytes 48; size of the communicator 52, number 56 (0: it has none). Of the pass: state 0, position 8, passed 20,
;; numbered 24; plane.wat has packets.
(module
  (import "node" "memory" (memory 1 65536 shared))
  (import "messages" "mayPost" (func $mayPost (param i32 i32 i32 i32 i32 i32) (result i32)))
  (import "messages" "bytesOf" (func $bytesOf (param i32 i32 i32) (result i32)))
  (import "messages" "memberOf" (func $memberOf (param i32 i32) (result i32)))
  (import "messages" "slotOf" (func $slotOf (param i32) (result i32)))
  (import "messages" "await" (func $await (param i32 i32) (result i32)))
  (import "messages" "take" (func $take (param i32)))
  (import "messages" "release" (func $release))
  (import "messages" "step" (func $step))
  (import "calls" "spin" (func $spin (param i32 i32 i32 i32 i32) (result i32)))
  (import "plane" "pass" (global $pass i32))
  (import "plane" "stop" (global $stop i32))
  (import "plane" "eagerBytes" (global $eagerBytes i32))
  (import "plane" "looksAhead" (global $looksAhead i32))
  (import "plane" "records" (global $records i32))
  (import "plane" "requests" (global $table i32))
  (import "plane" "firstHandle" (global $firstHandle i32))

  ;; May the program's calls go on without the engine: is it inside MPI, and shall it not stop?
  (func (export "isOpen") (result i32)
    (i32.eqz
      (i32.or
        (i32.and (i32.load (global.get $pass)) (i32.const 4))
        (i32.load (global.get $stop)))))

  (func $requestAt (param $place i32) (result i32)
    (i32.add (i32.add (global.get $table) (i32.const 128)) (i32.shl (local.get $place) (i32.const 6))))

  ;; Shall the plane begin a request, and is there room for it?
  (func $mayBegin (export "mayBegin") (result i32)
    (local $spared i32)
    (if (local.tee $spared (i32.load offset=84 (global.get $table)))
      (then
        (i32.store offset=84 (global.get $table) (i32.sub (local.get $spared) (i32.const 1)))
        (return (i32.const 0))))
    (i64.ne (i64.load offset=8 (global.get $table)) (i64.const -1)))

  ;; A place, which there must be, for a request in that state.
  (func $begin (param $state i32) (result i32)
    (local $place i32)
    (local.set $place
      (i32.wrap_i64 (i64.ctz (i64.xor (i64.load offset=8 (global.get $table)) (i64.const -1)))))
    (i64.store offset=8 (global.get $table)
      (i64.or (i64.load offset=8 (global.get $table))
        (i64.shl (i64.const 1) (i64.extend_i32_u (local.get $place)))))
    (i32.store (global.get $table) (i32.add (i32.load (global.get $table)) (i32.const 1)))
    (i32.store (call $requestAt (local.get $place)) (local.get $state))
    (local.get $place))

  ;; The message of a send has left. Its request.
  (func (export "sent") (param $communicator i32) (result i32)
    (local $place i32)
    (local.set $place (call $begin (i32.const 3)))
    (i32.store offset=24 (call $requestAt (local.get $place)) (local.get $communicator))
    (i32.add (global.get $firstHandle) (local.get $place)))

  ;; A receive. Its request; 0: the engine must begin it. One from nobody (−3) is over.
  (func (export "post")
    (param $buffer i32) (param $count i32) (param $type i32) (param $source i32) (param $tag i32) (param $handle i32)
    (result i32)
    (local $communicator i32) (local $room i32) (local $place i32) (local $at i32) (local $isNobody i32) (local $pending i32)
    ;; Which message it takes would have to be recorded.
    (if (i32.and (global.get $records) (i32.eq (local.get $source) (i32.const -1))) (then (return (i32.const 0))))
    (local.set $isNobody (i32.eq (local.get $source) (i32.const -3)))
    (if (i32.eqz
        (local.tee $communicator
          (call $mayPost
            (local.get $buffer) (local.get $count) (local.get $type)
            (select (i32.const 0) (local.get $source) (local.get $isNobody))
            (local.get $tag) (local.get $handle))))
      (then (return (i32.const 0))))
    (local.set $room (call $bytesOf (local.get $buffer) (local.get $count) (local.get $type)))
    ;; A longer message is none for the plane.
    (if (i32.gt_u (local.get $room) (global.get $eagerBytes)) (then (return (i32.const 0))))
    (if (i32.eqz (call $mayBegin)) (then (return (i32.const 0))))
    (local.set $place (call $begin (select (i32.const 2) (i32.const 1) (local.get $isNobody))))
    (local.set $at (call $requestAt (local.get $place)))
    (i32.store offset=24 (local.get $at) (local.get $handle))
    (if (local.get $isNobody)
      (then
        (i32.store offset=40 (local.get $at) (i32.const -3))
        (i32.store offset=44 (local.get $at) (i32.const -2))
        (i32.store offset=48 (local.get $at) (i32.const 0))
        (i32.store offset=56 (local.get $at) (i32.const 0)))
      (else
        (i32.store offset=24 (global.get $pass) (i32.add (i32.load offset=24 (global.get $pass)) (i32.const 1)))
        (i32.store offset=56 (local.get $at) (i32.load offset=24 (global.get $pass)))
        (i32.store offset=4 (local.get $at) (local.get $buffer))
        (i32.store offset=8 (local.get $at) (local.get $room))
        (i32.store offset=12 (local.get $at)
          (if (result i32) (i32.eq (local.get $source) (i32.const -1))
            (then (i32.const -1))
            (else (call $memberOf (local.get $communicator) (local.get $source)))))
        (i32.store offset=16 (local.get $at) (local.get $tag))
        (i32.store offset=20 (local.get $at) (i32.load offset=1092 (local.get $communicator)))
        (i32.store offset=28 (local.get $at) (local.get $count))
        (i32.store offset=32 (local.get $at) (local.get $type))
        (i32.store offset=36 (local.get $at) (local.get $source))
        (i32.store offset=52 (local.get $at) (i32.load offset=1096 (local.get $communicator)))
        (local.set $pending (i32.load offset=4 (global.get $table)))
        (i32.store8 offset=16 (i32.add (global.get $table) (local.get $pending)) (local.get $place))
        (i32.store offset=4 (global.get $table) (i32.add (local.get $pending) (i32.const 1)))
        (i32.store (global.get $pass) (i32.or (i32.load (global.get $pass)) (i32.const 8)))))
    (i32.add (global.get $firstHandle) (local.get $place)))

  ;; The place of a request that is the plane's; −1: the handle is of none.
  (func (export "placeOf") (param $handle i32) (result i32)
    (local $place i32)
    (local.set $place (i32.sub (local.get $handle) (global.get $firstHandle)))
    (if (i32.ge_u (local.get $place) (i32.const 64)) (then (return (i32.const -1))))
    (select (local.get $place) (i32.const -1)
      (i32.lt_u
        (i32.sub (i32.load (call $requestAt (local.get $place))) (i32.const 1))
        (i32.const 3))))

  (func (export "isPending") (param $place i32) (result i32)
    (i32.eq (i32.load (call $requestAt (local.get $place))) (i32.const 1)))

  ;; A receive that waits gets the next packet that any wants. The results: 0, or −1 when the engine must see to it, or −2 when nothing has
  ;; come; where its bytes go, where they are (the caller copies them and calls `release`; 0: they are the last result, and the packet is released), how many.
  (func (export "next") (param $isPatient i32) (result i32 i32 i32 i32 v128)
    (local $position i32) (local $slot i32) (local $stamp i32) (local $at i32) (local $bytes i32) (local $source i32)
    (local $turn i32) (local $buffer i32) (local $first v128)
    (block $engine
      (br_if $engine (i32.and (i32.load (global.get $pass)) (i32.const 7)))
      (br_if $engine (i32.load (global.get $stop)))
      (local.set $position (i32.load offset=8 (global.get $pass)))
      (block $found
        (loop $next
          (local.set $slot (call $slotOf (local.get $position)))
          (local.set $stamp (i32.add (local.get $position) (i32.const 1)))
          (if (i32.eqz
              (if (result i32) (local.get $isPatient)
                (then (call $await (local.get $slot) (local.get $stamp)))
                (else
                  (call $spin (local.get $slot) (local.get $stamp) (local.get $slot) (local.get $stamp) (i32.const 1)))))
            (then
              (i32.store offset=20 (global.get $pass)
                (i32.sub (local.get $position) (i32.load offset=8 (global.get $pass))))
              (return (i32.const -2) (i32.const 0) (i32.const 0) (i32.const 0) (local.get $first))))
          (if (i32.load offset=4 (local.get $slot))
            (then
              ;; Exactly this kind: of a process in its first life.
              (br_if $engine (i32.ne (i32.load offset=4 (local.get $slot)) (i32.const 1)))
              (br_if $found (i32.ge_s (local.tee $turn (call $turnOf (local.get $slot))) (i32.const 0))))
            (else
              (if (i32.eq (local.get $position) (i32.load offset=8 (global.get $pass))) (then (call $step)))))
          (local.set $position (i32.add (local.get $position) (i32.const 1)))
          ;; Senders must find room.
          (br_if $next
            (i32.lt_u
              (i32.sub (local.get $position) (i32.load offset=8 (global.get $pass)))
              (global.get $looksAhead))))
        (br $engine))
      (local.set $at
        (call $requestAt (i32.load8_u offset=16 (i32.add (global.get $table) (local.get $turn)))))
      (local.set $bytes (i32.load offset=20 (local.get $slot)))
      (br_if $engine (i32.gt_u (local.get $bytes) (i32.load offset=8 (local.get $at))))
      (local.set $source (i32.load offset=36 (local.get $at)))
      (if (i32.eq (local.get $source) (i32.const -1))
        (then
          (local.set $source (i32.load offset=8 (local.get $slot)))
          (br_if $engine (i32.ge_u (local.get $source) (i32.load offset=52 (local.get $at))))))
      (i32.store (local.get $at) (i32.const 2))
      (i32.store offset=40 (local.get $at) (local.get $source))
      (i32.store offset=44 (local.get $at) (i32.load offset=16 (local.get $slot)))
      (i32.store offset=48 (local.get $at) (local.get $bytes))
      (call $leaveOrder (local.get $turn))
      (call $take (local.get $position))
      (local.set $buffer (i32.load offset=4 (local.get $at)))
      (if (i32.gt_u (local.get $bytes) (i32.const 16))
        (then
          (return (i32.const 0) (local.get $buffer) (i32.load offset=28 (local.get $slot)) (local.get $bytes)
            (local.get $first))))
      (if (local.get $bytes)
        (then (local.set $first (v128.load (i32.load offset=28 (local.get $slot))))))
      (call $release)
      (return (i32.const 0) (local.get $buffer) (i32.const 0) (local.get $bytes) (local.get $first)))
    (i32.const -1) (i32.const 0) (i32.const 0) (i32.const 0) (local.get $first))

  ;; The first of the receives that wait which wants that message, by its place in their order; −1: none.
  (func $turnOf (param $slot i32) (result i32)
    (local $turn i32) (local $at i32) (local $wanted i32) (local $tag i32)
    (loop $next
      (if (i32.ge_u (local.get $turn) (i32.load offset=4 (global.get $table))) (then (return (i32.const -1))))
      (local.set $at
        (call $requestAt (i32.load8_u offset=16 (i32.add (global.get $table) (local.get $turn)))))
      (if (i32.eq (i32.load offset=12 (local.get $slot)) (i32.load offset=20 (local.get $at)))
        (then
          (local.set $wanted (i32.load offset=12 (local.get $at)))
          (if (i32.or
              (i32.eq (local.get $wanted) (i32.const -1))
              (i32.eq (local.get $wanted) (i32.load offset=8 (local.get $slot))))
            (then
              (local.set $wanted (i32.load offset=16 (local.get $at)))
              (local.set $tag (i32.load offset=16 (local.get $slot)))
              ;; Any tag (−2) is any of the program's.
              (if (select
                  (i32.ge_s (local.get $tag) (i32.const 0))
                  (i32.eq (local.get $tag) (local.get $wanted))
                  (i32.eq (local.get $wanted) (i32.const -2)))
                (then (return (local.get $turn))))))))
      (local.set $turn (i32.add (local.get $turn) (i32.const 1)))
      (br $next))
    (i32.const -1))

  ;; That receive waits no more.
  (func $leaveOrder (param $turn i32)
    (local $pending i32) (local $at i32)
    (local.set $pending (i32.sub (i32.load offset=4 (global.get $table)) (i32.const 1)))
    (i32.store offset=4 (global.get $table) (local.get $pending))
    (loop $next
      (if (i32.lt_u (local.get $turn) (local.get $pending))
        (then
          (local.set $at (i32.add (global.get $table) (local.get $turn)))
          (i32.store8 offset=16 (local.get $at) (i32.load8_u offset=17 (local.get $at)))
          (local.set $turn (i32.add (local.get $turn) (i32.const 1)))
          (br $next))))
    (if (i32.eqz (local.get $pending))
      (then (i32.store (global.get $pass) (i32.and (i32.load (global.get $pass)) (i32.const -9))))))

  ;; The program hears that a request is over: its status (source, tag, bytes). The place is free.
  (func (export "finish") (param $place i32) (result i32 i32 i32)
    (local $at i32) (local $state i32)
    (local.set $at (call $requestAt (local.get $place)))
    (local.set $state (i32.load (local.get $at)))
    (i32.store (local.get $at) (i32.const 0))
    (i32.store offset=88 (global.get $table)
      (i32.shr_u (i32.load offset=88 (global.get $table)) (i32.const 1)))
    (i64.store offset=8 (global.get $table)
      (i64.and (i64.load offset=8 (global.get $table))
        (i64.xor (i64.shl (i64.const 1) (i64.extend_i32_u (local.get $place))) (i64.const -1))))
    (i32.store (global.get $table) (i32.sub (i32.load (global.get $table)) (i32.const 1)))
    (if (i32.eq (local.get $state) (i32.const 3))
      (then (return (i32.const -1) (i32.const -2) (i32.const 0))))
    (i32.load offset=40 (local.get $at))
    (i32.load offset=44 (local.get $at))
    (i32.load offset=48 (local.get $at))))
